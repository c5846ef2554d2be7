"""Grade what a class has handed in: a folder of notebooks in; a table and what students get, out.

A hidden file beside the table keeps what was graded, and which points were given: so only what has
changed is graded again, and what a teacher has changed in the table is known.
"""

import contextlib
import csv
import hashlib
import io
import json
import math
import os
import re
import runpy
import secrets
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import takewhile, zip_longest
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell
from tqdm import tqdm

from bookbinder.book import Book, BookError, Edition, as_text, write_whole
from bookbinder.chapters import name_cells, number_of
from bookbinder.code import checks_in
from bookbinder.grading.sandbox import Sandbox
from bookbinder.grading.session import Question, grade, is_late
from bookbinder.markdown import exercise_of, markdown_lines
from bookbinder.worksheets import PLACE, numbered, whole_notebook, worksheet_of
from d2l_attention.practice.exercises import Exercise, find

SEED = ".grading-seed"  # of the inputs: whoever has it can prepare answers
BY = "by "  # before a name, so that no spreadsheet takes it for a number or a date
AT_ONCE = os.cpu_count() or 1
LARGEST = 200 * 2**20  # bytes of a notebook
MOST_IN_A_CELL, MOST_IN_A_FIELD = 500_000, 500  # letters
HIDDEN = re.compile(r"\.|(__MACOSX|__pycache__|Trash)$")  # nobody hands these in
PICTURES = (".svg", ".png", ".jpg", ".jpeg", ".gif")  # which come with a worksheet
RUBRIC = """\
**{most} of {most}**: the result and each step of the reasoning, as in the solution.
**{half:g} of {most}**: the result without a reason, or the reasoning with one gap or slip.

Write them into the column `{number} paper` of `{table}`; then call `make grade` again."""


@dataclass
class Submission:
    """What one name has handed in; `trouble` says why it cannot be graded."""

    name: str
    notebooks: dict[str, NotebookNode] = field(default_factory=dict)  # by their files
    notebook: NotebookNode | None = None  # the one that is graded
    trouble: str = ""
    # Number -> status, mistake and message; column -> the points that were given; of what.
    record: dict = field(default_factory=lambda: {"results": {}, "given": {}, "of": ""})


@dataclass
class Task:
    """What is asked of a class, and what it is worth."""

    name: str
    questions: list[Question]
    sheet: NotebookNode
    table: Path

    def __post_init__(self) -> None:
        self.exercises = [question.exercise for question in self.questions]
        prose = (cell.source for cell in self.sheet.cells if cell.cell_type == "markdown")
        lines = [line for source in prose for line in markdown_lines(source)]
        stars = {exercise_of(line): line.content.count("★") for line in lines}
        places = (n for n, cell in numbered(self.sheet.cells) if n and cell.source == PLACE)
        self.paper = list(dict.fromkeys(places))  # the exercises that have a place for words
        columns = [(points_of(e), e.number) for e in self.exercises if e.inputs]
        columns += [(f"{number} paper", number) for number in self.paper]
        self.most = {column: stars.get(number, 1) for column, number in columns}
        graded = [c for e in self.exercises for c in (points_of(e), f"{e.number} mistake")]
        others = [column for column in self.most if column not in graded]
        self.columns = ["submission", *graded, *others, "points", "of", "remarks"]


def grade_folder(
    book: Book, edition: Edition, folder: Path, chapter: str = "", exam: Path | None = None
) -> None:
    """Write the table of a folder's submissions beside them; print where it is.

    It is of a chapter, by default the one that most notebooks are of, or of a teacher's own file.
    """
    folder, exam = folder.expanduser().resolve(), exam and exam.expanduser().resolve()
    submissions, left_out = read_folder(folder, exam)
    edition = book.edition(edition.framework)  # a translated worksheet has the same code
    name = exam.stem if exam else chapter or commonest_chapter(book, submissions, folder)
    sheet = new_notebook() if exam else worksheet_of(book, edition, name)
    questions = exam_questions(exam) if exam else questions_in(sheet, name)
    task = Task(name, questions, sheet, folder / f"grades-{name}.csv")
    for submission in submissions:
        choose_notebook(submission, "" if exam or number_of(name) is None else str(number_of(name)))
    read_table(task)  # what is wrong with it is said before anything is graded
    if os.geteuid() == 0:
        print("warning: as root, nothing bounds a student's processes", file=sys.stderr)
    memory, seed = folder / f".grades-{name}.json", private_seed(folder)
    try:
        records = json.loads(memory.read_text("utf-8")) if memory.exists() else {}
    except ValueError:
        again = "delete it to grade all again, and to lose which points were the grader's"
        raise BookError(f"{memory} is broken: {again}") from None
    for submission in submissions:
        submission.record |= records.get(submission.name, {})
    asked = [q._replace(exercise=q.exercise.with_seed(seed)) for q in questions]
    try:
        grade_all(submissions, asked, edition.framework, f"{seed} {exam and exam.read_text()}")
    finally:
        kept = write_table(task, submissions)
        records |= {submission.name: submission.record for submission in submissions}
        write_whole(memory, json.dumps(records))
    if task.paper:
        write_papers(task, submissions, whole_notebook(edition, name))
    sys.stdout.reconfigure(errors="backslashreplace")  # of names that a terminal cannot show
    print(f"{task.table}: {len(submissions)} submissions")
    failed = [submission.name for submission in submissions if submission.trouble]
    lists = {"not graded": failed, "left out": left_out, "kept, as nobody has this name": kept}
    for what, names in lists.items():
        if names:
            print(f"{what}: {', '.join(map(safe, names))}")


# What is handed in


def read_folder(folder: Path, exam: Path | None) -> tuple[list[Submission], list[str]]:
    """Return a submission for each name, of a notebook or a folder; and which files are none."""
    if not folder.is_dir():
        raise BookError(f"SUBMISSIONS must be a folder with notebooks, got {str(folder)!r}")
    tables = [*folder.glob("grades-*.csv")]
    ours = [exam, *tables, *(table.with_suffix("") for table in tables)]
    submissions: dict[str, Submission] = {}
    left_out: list[str] = []
    for path in sorted(path for path in folder.iterdir() if path not in ours):
        name = path.name if path.is_dir() else path.stem
        name = name.partition("_assignsubmission_")[0].strip()  # which Moodle writes behind it
        for file in sorted([path, *path.rglob("*")]):
            where, suffix = file.relative_to(folder), file.suffix.lower()
            if any(map(HIDDEN.match, where.parts)) or (suffix in PICTURES and file != path):
                continue
            if (file == path and path.is_dir()) or suffix == ".ipynb":
                submission = submissions.setdefault(name, Submission(name))
            if file.is_dir():
                continue
            if suffix == ".ipynb":
                read_submitted(submission, file, where.as_posix())
            else:
                left_out.append(where.as_posix())
    if not submissions:
        raise BookError(f"{folder} has no notebooks")
    return list(submissions.values()), left_out


def read_submitted(submission: Submission, path: Path, name: str) -> None:
    """Read a file that may be anything into a submission, or say what is wrong with it."""
    try:
        if path.resolve() != path:
            submission.trouble = f"a link, which may lead to somebody else's: {name}"
        elif not path.is_file() or path.stat().st_size > LARGEST:
            submission.trouble = f"no file of at most {LARGEST >> 20} MB: {name}"
        else:
            data = path.read_bytes()
            cells = json.loads(data.decode(json.detect_encoding(data), "replace"))["cells"]
            submission.notebooks[name] = new_notebook(cells=list(map(cell_of, cells)))
    except Exception:  # whatever stands in it
        submission.trouble = f"no notebook: {name}"


def cell_of(raw: dict) -> NotebookNode:
    """Return a cell with what is needed of it, for nothing of it can be trusted."""
    text = "".join(raw["source"]).encode(errors="replace").decode()[:MOST_IN_A_CELL]
    if raw["cell_type"] == "code":
        return new_code_cell(text)
    with contextlib.suppress(Exception):  # of a parser, or too deep a nesting
        markdown_lines(text)
        return new_markdown_cell(text, attachments=raw.get("attachments", {}))
    return new_raw_cell(text)


def chapters_in(notebook: NotebookNode) -> set[str]:
    """Return the chapters of which a notebook checks exercises."""
    return {number.partition(".")[0] for number in checks_in(notebook)}


def choose_notebook(submission: Submission, chapter: str) -> None:
    """Take the notebook of a chapter, or one without a check; or say what does not fit."""
    every = {name: chapters_in(notebook) for name, notebook in submission.notebooks.items()}
    fitting = [name for name in every if not chapter or chapter in every[name]]
    fitting = fitting or [name for name in every if not every[name]]
    if len(fitting) == 1:
        submission.notebook, submission.trouble = submission.notebooks[fitting[0]], ""
    elif not submission.trouble:
        what = f"notebook of chapter {chapter}" if chapter else "notebook"
        submission.trouble = f"not one {what}: {' and '.join(fitting or every)}"


def commonest_chapter(book: Book, submissions: list[Submission], folder: Path) -> str:
    names = {str(number_of(name)): name for name in book.chapters}
    notebooks = (notebook for s in submissions for notebook in s.notebooks.values())
    counts = Counter(x for notebook in notebooks for x in chapters_in(notebook) if x in names)
    if not counts:
        raise BookError(f"{folder}: no notebook checks an exercise of the book")
    return names[counts.most_common(1)[0][0]]


# What is asked


def points_of(exercise: Exercise) -> str:
    """Return a column; one value is no proof of work, as a friend can tell it."""
    return f"{exercise.number} {'points' if exercise.inputs else '(no point)'}"


def questions_in(sheet: NotebookNode, name: str) -> list[Question]:
    """Return what the worksheet of a chapter checks."""
    checks = checks_in(sheet)
    if not checks:
        raise BookError(f"{name} has no exercise with a check")
    return [Question(find(number), answer) for number, (answer, _) in checks.items()]


def exam_questions(path: Path) -> list[Question]:
    """Return a teacher's own exercises; the name of each is that of the answer, too."""
    try:
        values = runpy.run_path(str(path))
    except Exception as error:  # whatever is wrong with it
        raise BookError(f"{path}: {type(error).__name__}: {error}") from None
    questions = [Question(x, name) for name, x in values.items() if isinstance(x, Exercise)]
    if not questions:
        raise BookError(f"{path} defines no Exercise")
    return questions


def private_seed(folder: Path) -> int:
    """Return the seed of this folder's inputs, which is drawn once and never leaves it."""
    path = folder / SEED
    if not path.exists():
        write_whole(path, f"{secrets.token_hex()}\n")
        path.chmod(0o600)
    return int.from_bytes(hashlib.sha256(path.read_bytes()).digest()[:8])


def grade_all(
    submissions: list[Submission], questions: list[Question], framework: str, of: str
) -> None:
    """Grade what is new or was late, several at once; `of` is what else it depends on."""
    asked = framework, of, [(q.answer, q.exercise.cases()) for q in questions]
    sandboxes: list[Sandbox] = []

    def digest(submission: Submission) -> str:
        cells = [(c.cell_type, c.source) for c in submission.notebook.cells]
        return hashlib.sha256(repr((asked, cells)).encode()).hexdigest()

    def graded(submission: Submission) -> tuple[dict, str]:
        sandboxes.append(sandbox := Sandbox(framework))
        try:
            results = grade(submission.notebook, questions, sandbox)
        except Exception as error:  # it must not keep the others from being graded
            trouble = f"this notebook breaks the grader: {error!r}"
            return {"of": "", "results": {}}, trouble
        late = any(map(is_late, results.values()))
        told = {n: [r.status, r.mistake, r.message] for n, r in results.items()}
        return {"of": "" if late else digest(submission), "results": told}, ""

    todo = [s for s in submissions if s.notebook and s.record["of"] != digest(s)]
    if todo:
        with contextlib.closing(Sandbox(framework)) as trial:
            trial.start()  # where there is none, nothing is graded
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            running = zip(todo, pool.map(graded, todo), strict=False)
            for submission, found in tqdm(running, total=len(todo), disable=None):
                record, submission.trouble = found
                submission.record |= record
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for sandbox in sandboxes:
                sandbox.until = 0
                sandbox.close()
            raise
    for submission in todo:
        if not submission.record["of"]:
            record, submission.trouble = graded(submission)  # alone
            submission.record |= record


# The table


def read_table(task: Task) -> tuple[list[str], dict[str, dict[str, str]]]:
    """Return columns and rows, by name, as a teacher saved them, or BookError: a point is lost."""

    def wrong(what: str) -> BookError:
        return BookError(f"{task.table}: {what}. Mend it, then call again: nothing is written")

    if not task.table.exists():
        return task.columns, {}
    try:
        text = task.table.read_text(encoding="utf-8-sig")
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        head, *lines = [*csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)] or [[]]
    except (UnicodeDecodeError, csv.Error):
        raise wrong("it is no CSV in UTF-8") from None
    head = [name.strip() or f"column {at}" for at, name in enumerate(head, 1)]
    for name in ["submission", *task.most, *head]:
        if head.count(name) != 1:
            raise wrong(f"{head.count(name) or 'no'} column {name!r}")
    rows: dict[str, dict[str, str]] = {}
    for cells in ([cell.strip() for cell in line] for line in lines if any(line)):
        row = dict(zip_longest(head, cells[: len(head)], fillvalue=""))
        name = row["submission"] = BY + row["submission"].removeprefix(BY)
        if name in rows:
            raise wrong(f"two rows of {name!r}")
        if len(cells) > len(head):
            raise wrong(f"more cells than columns in the row of {name!r}")
        for column in task.most:
            if row[column] and number_in(row[column]) is None:
                raise wrong(f"{column!r} of {name!r} must be a number, got {row[column]!r}")
        rows[name] = row
    theirs = [x for x in head if any(row[x] for row in rows.values())]
    return list(dict.fromkeys([*task.columns, *theirs])), rows


def write_table(task: Task, submissions: list[Submission]) -> list[str]:
    """Write the table, and what each student is told; return the rows that nobody has handed in."""
    columns, old = read_table(task)
    rows = []
    for submission in submissions:
        row = old.pop(safe(BY + submission.name), {})
        if row or submission.trouble or submission.record["results"]:
            row, text = row_of(task, submission, row)
            rows.append(row)
            name = safe(submission.name).encode()[:200].decode(errors="ignore")
            write_whole(task.table.with_suffix("") / f"{name}.txt", text)
    file = io.StringIO()
    table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows([*rows, *old.values()])
    write_whole(task.table, f"\ufeff{file.getvalue()}")  # by which Excel knows UTF-8
    return list(old)


def row_of(task: Task, submission: Submission, row: dict[str, str]) -> tuple[dict[str, str], str]:
    """Return a row, in which a point stays that is not what the grader gave; and a text of it."""
    remarks, lines, given = [submission.trouble], [], submission.record["given"]
    for exercise in task.exercises:
        if exercise.number in submission.record["results"]:
            status, mistake, message = submission.record["results"][exercise.number]
            column = points_of(exercise)
            points = task.most.get(column, 1) if status == "passed" else 0
            if number_in(row.get(column, "")) in (None, points, given.get(column)):
                row[column] = str(points)
            else:
                remarks.append(f"{column}: {row[column]} by hand, {points} by the grader")
            given[column] = points
            why = "" if status == "passed" else ": ".join(filter(None, [status, mistake]))
            row[f"{exercise.number} mistake"] = safe(why)
            label = column.removesuffix(" points")
            lines.append(f"{label} {status}. {message}".strip())
    points = [x for c in task.most if (x := number_in(row.get(c, ""))) is not None]
    row["submission"], row["of"] = safe(BY + submission.name), str(sum(task.most.values()))
    row["points"] = f"{sum(points):g}" if points else ""
    row["remarks"] = safe("; ".join(filter(None, remarks)))
    lines += [f"Not graded: {submission.trouble}"] * bool(submission.trouble) + [""]
    lines += [f"{c}: {row.get(c) or 'not marked'} of {most}" for c, most in task.most.items()]
    lines.append(f"points: {row['points'] or 'none yet'} of {row['of']}")
    return row, "".join(f"{safe(line)}\n" for line in lines)


def number_in(cell: str) -> float | None:
    with contextlib.suppress(ValueError):
        number = float(cell.replace(",", "."))
        return number if math.isfinite(number) else None
    return None


def safe(value: object) -> str:
    """Return a field of the table: one line, and no formula; what differs stays different."""
    letters = str(value)[:MOST_IN_A_FIELD]
    plain = (x if x.isprintable() and x != "\\" else ascii(x)[1:-1] for x in letters)
    return "'" * letters.startswith(("=", "+", "-", "@", "'")) + "".join(plain)


# Answers on paper


def write_papers(task: Task, submissions: list[Submission], solved: NotebookNode) -> None:
    """Write for each exercise its task and solution, and below them what each name handed in."""
    text = "\n\n".join(as_markdown(cell).source for cell in solved.cells)
    asked = {cell.source for cell in task.sheet.cells}
    for number in task.paper:
        most = task.most[f"{number} paper"]
        rubric = RUBRIC.format(number=number, table=task.table.name, most=most, half=most / 2)
        cells = [new_markdown_cell(section(text, number)), new_markdown_cell(rubric)]
        for submission in (s for s in submissions if s.notebook):
            cells.append(new_markdown_cell(f"## {safe(submission.name)}"))
            every = submission.notebook.cells  # of these all where the heading is gone
            below = [cell for n, cell in numbered(every) if n == number] or every
            cells += [as_markdown(cell) for cell in below if cell.source not in asked]
        paper = new_notebook(cells=cells)
        name_cells(paper)
        write_whole(task.table.with_suffix("") / f"paper-{number}.ipynb", as_text(paper))


def section(text: str, number: str) -> str:
    """Return an exercise of a page, from its heading to the next one, its solutions open."""
    lines = markdown_lines(text.replace("<details>", "<details open>"))
    begin = next(at for at, line in enumerate(lines) if exercise_of(line) == number)
    below = takewhile(lambda line: not 0 < line.level < 4, lines[begin + 1 :])
    return "\n".join(line.text for line in [lines[begin], *below])


def as_markdown(cell: NotebookNode) -> NotebookNode:
    """Return a cell as one that cannot run."""
    is_code = cell.cell_type == "code"
    return new_markdown_cell(f"````python\n{cell.source}\n````") if is_code else cell
