"""Grade what a class has handed in: a folder of notebooks in; a table and what students get, out.

The table is written anew after each submission and names the digest of what it graded, so that an
interrupted run goes on where it stopped and only what has changed is graded again.
"""

import csv
import hashlib
import importlib.util
import io
import json
import os
import secrets
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook
from tqdm import tqdm

from bookbinder.binding import read_edition_chapters
from bookbinder.chapters import name_cells, number_of
from bookbinder.classroom.grading import Grade, Question, Session, checks_in, grade, started
from bookbinder.config import Book, Edition
from bookbinder.diagrams import bring_diagrams
from bookbinder.files import BookError, as_text, write_whole
from bookbinder.worksheets import by_exercise, checked_in, invitation, sheets, students, teachers
from d2l_attention.practice.exercises import Exercise, find

SEED = ".grading-seed"  # of the inputs: whoever has it can prepare answers
TABLE = "grades-{}.csv"
AT_ONCE = os.cpu_count() or 1
LARGEST = 200 * 2**20  # bytes of a notebook; a tenth of it without its outputs
MOST_LETTERS = 500  # of a field
RUBRIC = """\
**2 points**: the result and each step of the reasoning, as in the solution.
**1 point**: the result without a reason, or the reasoning with one gap or slip.

Write them into the column `{number} (paper)` of `{table}`; then call `make grade` again."""


@dataclass
class Sheet:
    """A notebook of a submission, and the numbers that it checks."""

    path: Path
    notebook: NotebookNode
    checks: list[str]

    @property
    def chapters(self) -> set[str]:
        return {number.partition(".")[0] for number in self.checks}


@dataclass
class Submission:
    """What one name has handed in; `trouble` says why it cannot be graded."""

    name: str
    sheets: list[Sheet] = field(default_factory=list)
    chosen: Sheet | None = None  # the one that is graded
    trouble: str = ""
    grades: dict[str, Grade] = field(default_factory=dict)

    @property
    def late(self) -> list[str]:
        return [number for number, grade in self.grades.items() if grade.late]


def grade_folder(
    book: Book, edition: Edition, folder: Path, chapter: str = "", exam: Path | None = None
) -> None:
    """Write the table of a folder's submissions beside them; print where it is.

    Args:
        chapter: Whose exercises are graded; by default the one that most notebooks are of.
        exam: A Python file with exercises of the teacher's own, in place of a chapter's.
    """
    submissions = read_folder(folder)
    edition = book.edition(edition.framework)  # a translated worksheet has the same code
    name = exam.stem if exam else chapter or commonest_chapter(book, edition, submissions, folder)
    chapters = [] if exam else [c for c in read_edition_chapters(book, edition) if c.name == name]
    worksheet = sheets(book, edition, chapters, students).get(name, new_notebook())
    questions = exam_questions(exam) if exam else questions_in(worksheet, name)
    for submission in submissions:
        choose_sheet(submission, "" if exam else str(number_of(name)), questions)
    seed = private_seed(folder)
    asked = [Question(q.exercise.with_seed(seed), q.answer) for q in questions]
    salt = salt_of(asked, edition.framework, exam)
    table = Table(folder / TABLE.format(name), asked, on_paper(worksheet), salt, submissions)
    grade_all(submissions, asked, edition.framework, table)
    if table.paper:
        bring_diagrams(book, edition, chapters, table.folder)
        solutions = sheets(book, edition, chapters, teachers)[name]
        papers = paper_sheets(table.path.name, worksheet, solutions, submissions)
        for task, sheet in papers.items():
            write_whole(table.folder / f"paper-{task}.ipynb", as_text(sheet))
    failed = [safe(s.name) for s in submissions if s.trouble]
    who = f", {len(failed)} not graded: {', '.join(failed)}" if failed else ""
    print(f"{table.path}: {len(submissions)} submissions{who}")


# What is handed in


def read_folder(folder: Path) -> list[Submission]:
    """Return the submissions of a folder: files, or folders with notebooks in them."""
    if not folder.is_dir():
        raise BookError(f"SUBMISSIONS must be a folder with notebooks, got {str(folder)!r}")
    submissions: dict[str, Submission] = {}
    for path in notebooks_in(folder):
        name = name_of(path.relative_to(folder))
        read_sheet(submissions.setdefault(name, Submission(name)), path, folder)
    if not submissions:
        raise BookError(f"{folder} has no notebooks")
    return list(submissions.values())


def notebooks_in(folder: Path) -> Iterator[Path]:
    """Yield each notebook, and each folder that has none."""
    for path in sorted(folder.iterdir()):
        ours = path.is_dir() and path.match(TABLE.format("*").removesuffix(".csv"))
        if path.name.startswith(".") or ours:
            continue
        inside = [p for p in sorted(path.rglob("*.ipynb")) if ".ipynb_checkpoints" not in p.parts]
        yield from inside or [path] * (path.is_dir() or path.suffix == ".ipynb")


def name_of(path: Path) -> str:
    """Return whose a notebook is: `ann.ipynb`, `ann/06_scaled….ipynb` and `ann/06_…/06_….ipynb`.

    In a folder as Moodle names it, "Ann Lee_17_assignsubmission_file", it is "Ann Lee_17".
    """
    parts = list(path.with_suffix("").parts) if path.suffix == ".ipynb" else list(path.parts)
    if "_assignsubmission_" in parts[0]:
        return parts[0].partition("_assignsubmission_")[0]
    while len(parts) > 1 and parts[-1][:2].isdigit() and parts[-1][2:3] == "_":
        parts.pop()
    return "/".join(parts)


def read_sheet(submission: Submission, path: Path, folder: Path) -> None:
    name = path.relative_to(folder).as_posix()
    if path.resolve() != folder.resolve() / name:
        submission.trouble = f"a link, which may lead to somebody else's: {name}"
        return
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise ValueError
        text = without_outputs(path.read_bytes())
        if len(text) > LARGEST // 10:
            raise ValueError
        notebook = nbformat.reads(text, as_version=4)
        submission.sheets.append(Sheet(path, notebook, [*checks_in(notebook)]))
    except Exception:  # whatever stands in it
        submission.trouble = f"no notebook: {name}"


def without_outputs(data: bytes) -> str:
    """Return the text of a notebook whose outputs, of any size, are left out."""

    def emptied(one: dict) -> dict:
        return one | {"outputs": []} if "outputs" in one else one

    text = data.decode(json.detect_encoding(data), "replace")
    return json.dumps(json.loads(text, object_hook=emptied))


def choose_sheet(submission: Submission, chapter: str, questions: list[Question]) -> None:
    """Take the notebook of a chapter, or one without a check; or say what does not fit."""
    every = submission.sheets
    fitting = [sheet for sheet in every if not chapter or chapter in sheet.chapters]
    fitting = fitting or [sheet for sheet in every if not sheet.checks]
    if len(fitting) == 1:
        (submission.chosen,), known = fitting, {q.exercise.number for q in questions}
        checks = {n for n in submission.chosen.checks if n.startswith(f"{chapter}.")}
        of = f"of another version of the book: it has exercise {min(checks - known, default='')}"
        submission.trouble = of if checks - known else ""
    elif fitting:
        names = " and ".join(sheet.path.name for sheet in fitting)
        submission.trouble = f"{len(fitting)} notebooks, of which one can count: {names}"
    elif every and not submission.trouble:
        chapters = " and ".join(sorted(set().union(*(sheet.chapters for sheet in every))))
        submission.trouble = f"a notebook of chapter {chapters}, not of chapter {chapter}"


def commonest_chapter(
    book: Book, edition: Edition, submissions: list[Submission], folder: Path
) -> str:
    counts = Counter(n for s in submissions for sheet in s.sheets for n in sheet.chapters)
    names = {str(number_of(name)): name for name in book.chapters_of(edition)}
    most = max((counts[number] for number in names), default=0)
    if not most:
        raise BookError(f"{folder}: no notebook checks an exercise of the book")
    first, *others = (name for number, name in names.items() if counts[number] == most)
    if others:
        raise BookError(f"{folder} has as many notebooks of {others[0]}: say CHAPTER={first}")
    return first


# What is asked


def questions_in(worksheet: NotebookNode, name: str) -> list[Question]:
    """Return what the worksheet of a chapter checks."""
    checked = checked_in(worksheet)
    if not checked:
        raise BookError(f"{name} has no exercise with a check")
    return [Question(find(number), answer) for number, answer in checked.items()]


def exam_questions(path: Path) -> list[Question]:
    """Return a teacher's own exercises; the name of each is that of the answer, too."""
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except Exception as error:  # whatever is wrong with it
        raise BookError(f"{path}: {type(error).__name__}: {error}") from None
    exercises = {n: value for n, value in vars(module).items() if isinstance(value, Exercise)}
    if not exercises:
        raise BookError(f"{path} defines no Exercise")
    return [Question(exercise, name) for name, exercise in exercises.items()]


def private_seed(folder: Path) -> int:
    """Return the seed of this folder's inputs, which is drawn once and never leaves it."""
    path = folder / SEED
    if not path.exists():
        write_whole(path, f"{secrets.randbits(64)}\n")
        path.chmod(0o600)
    text = path.read_text(encoding="utf-8").strip()
    if not text.isdecimal():
        raise BookError(f"{path} must hold a whole number, got {text[:20]!r}; delete it")
    return int(text)


def salt_of(questions: list[Question], framework: str, exam: Path | None) -> bytes:
    """Return what makes grades stale when it changes."""
    inputs = [(q.exercise.number, q.answer, q.exercise.cases()) for q in questions]
    return repr((framework, inputs)).encode() + (exam.read_bytes() if exam else b"")


def grade_all(
    submissions: list[Submission], questions: list[Question], framework: str, table: "Table"
) -> None:
    """Grade several at once and write each row when it is there."""
    todo = [submission for submission in submissions if not table.has(submission)]
    sessions: list[Session] = []
    if todo:
        started(framework).stop()  # where there is no sandbox, nothing is graded

    def graded(submission: Submission) -> Submission:
        if submission.chosen and not submission.trouble:
            late = [q for q in questions if q.exercise.number in submission.late]
            sessions.append(session := Session(framework))
            try:
                submission.grades |= grade(submission.chosen.notebook, late or questions, session)
            except Exception as error:  # it must not keep the others from being graded
                submission.trouble = f"this notebook breaks the grader: {error!r}"
        return submission

    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = [pool.submit(graded, submission) for submission in todo]
        try:
            for done in tqdm(as_completed(running), total=len(running), disable=None):
                if not done.result().late:
                    table.add(done.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for session in sessions:
                session.give_up()
            raise
    for submission in todo:
        if submission.late:
            table.add(graded(submission))  # once more, with nothing beside it
    table.write()


# The table


class Table:
    """A row for each submission, in which a teacher may write, and what to tell each of them."""

    def __init__(
        self,
        path: Path,
        questions: list[Question],
        paper: list[str],
        salt: bytes,
        submissions: list[Submission],
    ) -> None:
        self.path, self.folder, self.paper, self.salt = path, path.with_suffix(""), paper, salt
        self.exercises = [question.exercise for question in questions]
        self.order = [safe(submission.name) for submission in submissions]
        self.on_paper = [f"{number} (paper)" for number in paper]
        graded = [c for e in self.exercises for c in (heading(e), f"{e.number} mistake")]
        self.head = ["submission", *graded, *self.on_paper, "points", "remarks", "notebook"]
        self.counted = [*(e.number for e in self.exercises if e.inputs), *self.on_paper]
        self.rows = {str(row.get("submission")): row for row in rows_in(path)}

    def has(self, submission: Submission) -> bool:
        row = self.rows.get(safe(submission.name), {})
        is_graded = submission.chosen and row.get("notebook") == self.digest(submission)
        return bool(is_graded) and self.feedback(submission).exists()

    def digest(self, submission: Submission) -> str:
        with submission.chosen.path.open("rb") as file:
            notebook = hashlib.file_digest(file, "sha256").digest()
        return (
            f"n{hashlib.sha256(notebook + self.salt).hexdigest()[:16]}"  # no spreadsheet's number
        )

    def add(self, submission: Submission) -> None:
        row, lines = {"submission": submission.name, "remarks": submission.trouble}, []
        for exercise in self.exercises:
            if grade := submission.grades.get(exercise.number):
                mistake = grade.status + f": {grade.remark}" * bool(grade.remark)
                row[heading(exercise)] = int(grade.passed)
                row[f"{exercise.number} mistake"] = "" if grade.passed else mistake
                lines.append(f"{exercise.number} {grade.status}. {grade.message}")
        if not (submission.trouble or submission.late):  # these are looked at again
            row["notebook"] = self.digest(submission)
        row = {column: safe(value) for column, value in row.items()}
        before = self.rows.get(row["submission"], {})
        by_hand = self.counted if submission.trouble else self.on_paper
        self.rows[row["submission"]] = row | {c: before.get(c) or "" for c in by_hand}
        lines += [f"Not graded: {submission.trouble}"] * bool(submission.trouble)
        write_whole(self.feedback(submission), "".join(f"{safe(line)}\n" for line in lines))
        self.write()

    def feedback(self, submission: Submission) -> Path:
        """Return the file for a student."""
        name = safe(submission.name).replace("/", "%2F").encode()[:200].decode(errors="ignore")
        return self.folder / f"{name}.txt"

    def write(self) -> None:
        file = io.StringIO()
        table = csv.DictWriter(file, self.head, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for row in (self.rows[name] for name in self.order if name in self.rows):
            points = [row[column].replace(",", ".") for column in self.counted if row.get(column)]
            try:
                row["points"] = f"{sum(map(float, points)):g}" if points else ""
            except ValueError as error:
                raise BookError(f"{self.path}: of {row['submission']}: {error}") from None
            table.writerow(row)
        write_whole(self.path, f"\ufeff{file.getvalue()}")  # by which Excel knows UTF-8


def rows_in(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, with commas or, as some spreadsheets save it, semicolons."""
    try:
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
        commas = text.partition("\n")[0].count(";") == 0
        return list(csv.DictReader(io.StringIO(text), delimiter="," if commas else ";"))
    except (csv.Error, UnicodeDecodeError):
        why = "cannot be read, and may have points of yours: save it as CSV in UTF-8, or delete it"
        raise BookError(f"{path} {why}") from None


def safe(value: object) -> str:
    """Return a field of the table: one line, and no formula; what differs stays different."""
    letters = str(value)[:MOST_LETTERS]
    plain = (x if x.isprintable() and x != "\\" else ascii(x)[1:-1] for x in letters)
    return "'" * letters.startswith(("=", "+", "-", "@", "'")) + "".join(plain)


def heading(exercise: Exercise) -> str:
    """Return the number; one value is no proof of work, as a friend can tell it."""
    return exercise.number if exercise.inputs else f"{exercise.number} (no point)"


# Answers on paper


def on_paper(worksheet: NotebookNode) -> list[str]:
    """Return the exercises of which the answer on paper counts: where no check but a value does."""
    counted = {number for number in checked_in(worksheet) if find(number).inputs is not None}
    counted.add("")  # the text above the exercises, which asks, too
    return [
        number
        for number, cells in by_exercise(worksheet).items()
        if number not in counted and any(cell.source == invitation() for cell in cells)
    ]


def paper_sheets(
    table: str, worksheet: NotebookNode, solutions: NotebookNode, submissions: list[Submission]
) -> dict[str, NotebookNode]:
    """Return number -> an exercise and its solution, and below them what each name handed in."""
    asked = {cell.source for cells in by_exercise(worksheet).values() for cell in cells}
    answers = {safe(s.name): by_exercise(s.chosen.notebook) for s in submissions if s.chosen}
    papers = {}
    for number in on_paper(worksheet):
        cells = by_exercise(solutions).get(number, [])
        cells.append(new_markdown_cell(RUBRIC.format(number=number, table=table)))
        for name, exercises in answers.items():
            answer = [cell for cell in exercises.get(number, []) if cell.source not in asked]
            cells += [new_markdown_cell(f"## {name}"), *answer]
        papers[number] = new_notebook(cells=cells)
        name_cells(papers[number])
    return papers
