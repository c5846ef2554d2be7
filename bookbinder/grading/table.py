"""Grade what a class has handed in: a folder of notebooks in; a table and what students get, out.

The table is read again before each row is written, and notes what was graded and which points were
given: so only what has changed is graded again, and what a teacher has changed is known.
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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tqdm import tqdm

from bookbinder.book import Book, BookError, Edition, as_text, write_whole
from bookbinder.chapters import name_cells, number_of
from bookbinder.grading.session import Question, Session, grade, is_late, started
from bookbinder.notebook import as_stored, read_edition_chapters
from bookbinder.pictures import bring_diagrams
from bookbinder.worksheets import by_exercise, checks_in, code_cells, invitation, sheets
from d2l_attention.frameworks import known, load
from d2l_attention.practice.checking import Result
from d2l_attention.practice.exercises import Exercise, find

SEED = ".grading-seed"  # of the inputs: whoever has it can prepare answers
TABLE = "grades-{}.csv"
BY = "by "  # before a name, so that no spreadsheet takes it for a number or a date
AT_ONCE = os.cpu_count() or 1
LARGEST = 200 * 2**20  # bytes of a notebook
MOST_IN_A_CELL, MOST_LETTERS, MOST_NAMED = 500_000, 500, 30  # MOST_LETTERS of a field
HIDDEN = re.compile(r"\.|(__MACOSX|__pycache__|Trash)$")  # nobody hands these in
PICTURES = (".svg", ".png", ".jpg", ".jpeg", ".gif")  # which come with a worksheet
RUBRIC = """\
**{most} of {most}**: the result and each step of the reasoning, as in the solution.
**{half:g} of {most}**: the result without a reason, or the reasoning with one gap or slip.

Write them into the column `{number} paper` of `{table}`; then call `make grade` again."""


class Sheet(NamedTuple):
    """A notebook of a submission, with its file and the chapters of which it checks exercises."""

    name: str  # from the folder
    data: bytes
    notebook: NotebookNode
    chapters: set[str]
    python: list[int]  # its version


@dataclass
class Submission:
    """What one name has handed in; `trouble` says why it cannot be graded."""

    name: str
    sheets: list[Sheet] = field(default_factory=list)
    chosen: Sheet | None = None  # the one that is graded
    trouble: str = ""
    results: dict[str, Result] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def row(self) -> str:
        return safe(BY + self.name)

    @property
    def late(self) -> list[str]:
        return [number for number, result in self.results.items() if is_late(result)]


def grade_folder(
    book: Book, edition: Edition, folder: Path, chapter: str = "", exam: Path | None = None
) -> None:
    """Write the table of a folder's submissions beside them; print where it is.

    It is of a chapter, by default the one that most notebooks are of, or of a teacher's own file.
    """
    folder, exam = folder.expanduser(), exam and exam.expanduser()
    submissions, left_out = read_folder(folder, exam)
    edition = book.edition(edition.framework)  # a translated worksheet has the same code
    name = exam.stem if exam else chapter or commonest_chapter(book, submissions, folder)
    chapters = [] if exam else [c for c in read_edition_chapters(book, edition) if c.name == name]
    worksheet = sheets(book, edition, chapters).get(name, new_notebook())
    questions = exam_questions(exam) if exam else questions_in(worksheet, name)
    for submission in submissions:
        choose_sheet(submission, "" if exam else str(number_of(name)))
    seed = private_seed(folder)
    asked = [q._replace(exercise=q.exercise.with_seed(seed)) for q in questions]
    inputs = [(q.exercise.number, q.answer, q.exercise.cases()) for q in asked]
    salt = repr((edition.framework, inputs)).encode() + (exam.read_bytes() if exam else b"")
    table = Table(folder / TABLE.format(name), asked, worksheet, salt, submissions)
    if os.geteuid() == 0:
        print("warning: as root, nothing bounds a student's processes", file=sys.stderr)
    grade_all(submissions, asked, edition.framework, table)
    if table.paper:
        bring_diagrams(book, edition, chapters, table.folder)
        (chapter,) = chapters
        papers = paper_sheets(table, worksheet, as_stored(book, edition, chapter), submissions)
        for task, sheet in papers.items():
            write_whole(table.folder / f"paper-{task}.ipynb", as_text(sheet))
    sys.stdout.reconfigure(errors="backslashreplace")  # of names that a terminal cannot show
    failed = [s.name for s in submissions if s.trouble]
    print(f"{table.path}: {len(submissions)} submissions", end=", " if failed else "\n")
    lists = {f"{len(failed)} not graded": failed, "left out": left_out}
    lists["kept, as nobody has this name"] = table.kept
    for submission in submissions:
        for note in submission.notes:
            lists.setdefault(note, []).append(submission.name)
    for what, names in lists.items():
        more = f" and {len(names) - MOST_NAMED} more" * (len(names) > MOST_NAMED)
        if names:
            print(f"{what}: {', '.join(map(safe, names[:MOST_NAMED]))}{more}")


# What is handed in


def read_folder(folder: Path, exam: Path | None) -> tuple[list[Submission], list[str]]:
    """Return a submission for each name, of a notebook or a folder; and which files are none."""
    if not folder.is_dir():
        raise BookError(f"SUBMISSIONS must be a folder with notebooks, got {str(folder)!r}")
    tables = [*folder.glob(TABLE.format("*"))]
    ours = [*tables, *(table.with_suffix("") for table in tables), exam and exam.resolve()]
    submissions: dict[str, Submission] = {}
    left_out: list[str] = []
    for path in sorted(folder.iterdir()):
        if HIDDEN.match(path.name) or path in ours or path.resolve() in ours:
            continue
        files = list(files_in(path)) if path.is_dir() else [path]
        notebooks = [file for file in files if file.suffix.lower() == ".ipynb"]
        others = [x for x in files if x not in notebooks and x.suffix.lower() not in PICTURES]
        left_out += [file.relative_to(folder).as_posix() for file in others]
        if path.is_dir() or notebooks:
            stem = path.name if path.is_dir() else path.stem
            name = stem.partition("_assignsubmission_")[0].strip()  # which Moodle writes behind it
            submission = submissions.setdefault(name, Submission(name))
            for notebook in notebooks:
                read_sheet(submission, notebook, folder)
    if not submissions:
        raise BookError(f"{folder} has no notebooks")
    return list(submissions.values()), left_out


def files_in(folder: Path) -> Iterator[Path]:
    for top, folders, files in os.walk(folder):
        folders[:], files = (sorted(x for x in y if not HIDDEN.match(x)) for y in (folders, files))
        yield from (Path(top, name) for name in files)


def read_sheet(submission: Submission, path: Path, folder: Path) -> None:
    name = path.relative_to(folder).as_posix()
    trouble = "no file" if not path.is_file() else ""
    try:
        if path.resolve() != folder.resolve() / name:
            trouble = "a link, which may lead to somebody else's"
        elif not trouble and (size := path.stat().st_size) > LARGEST:
            trouble = f"too large, {size / 2**20:.0f} of {LARGEST >> 20} MB"
        elif not trouble:
            submission.sheets.append(sheet_of(name, path.read_bytes()))
    except Exception:  # whatever stands in it
        trouble = "no notebook"
    submission.trouble = f"{trouble}: {name}" if trouble else submission.trouble


def sheet_of(name: str, data: bytes) -> Sheet:
    """Return the notebook in a file; what is broken in it costs its own cell."""
    text = data.decode(json.detect_encoding(data), "replace")
    raw = json.loads(text, strict=False, parse_int=float)
    parts = [raw] if "cells" in raw else raw["worksheets"]  # in notebooks of version 3
    notebook = new_notebook()
    notebook.cells = [cell_of(cell) for part in parts for cell in part["cells"]]
    chapters = {number.partition(".")[0] for number in checks_in(notebook)}
    version = re.findall(r"\d+", str(within(raw, "metadata", "language_info", "version")))[:2]
    return Sheet(name, data, notebook, chapters, [int(x) for x in version])


def cell_of(raw: object) -> NotebookNode:
    """Return a cell, whatever stands in its place."""
    source = within(raw, "source") or within(raw, "input")
    texts = source if isinstance(source, list) else [source]
    text = "".join(x for x in texts if isinstance(x, str)).encode(errors="replace").decode()
    kind, tags = within(raw, "cell_type"), within(raw, "metadata", "tags")
    text = "### " * (kind == "heading") + text[:MOST_IN_A_CELL]
    cell = new_code_cell(text) if kind == "code" else new_markdown_cell(text)
    cell.metadata.tags = tags if isinstance(tags, list) else []
    with contextlib.suppress(Exception):
        cell.attachments = new_markdown_cell(attachments=within(raw, "attachments")).attachments
    return cell


def within(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def choose_sheet(submission: Submission, chapter: str) -> None:
    """Take the notebook of a chapter, or one without a check; or say what does not fit."""
    every = submission.sheets
    fitting = [sheet for sheet in every if not chapter or chapter in sheet.chapters]
    fitting = fitting or [sheet for sheet in every if not sheet.chapters]
    names = " and ".join(sheet.name for sheet in fitting or every)
    if len(fitting) == 1:
        submission.chosen, submission.trouble = fitting[0], ""
    elif fitting:
        submission.trouble = f"{len(fitting)} notebooks, of which one can count: {names}"
    elif not submission.trouble:
        other = f"not of chapter {chapter}: {names}" if every else f"no notebook: {submission.name}"
        submission.trouble = other


def notes_on(submission: Submission, framework: str) -> list[str]:
    """Return what a teacher should know who reads the results."""
    code = "\n".join(cell.source for cell in code_cells(submission.chosen.notebook))
    used = [name for name in known() if re.search(load(name).CODE, code)]
    other = [] if framework in used else [f"code in {x}: FRAMEWORK={x}" for x in used[:1]]
    theirs, ours = submission.chosen.python, list(sys.version_info[:2])
    refused = any((r.mistake or "").startswith("SyntaxError") for r in submission.results.values())
    versions = (".".join(map(str, version)) for version in (theirs, ours))
    written = "written in Python {}, graded in {}".format(*versions)
    return other + [written] * (refused and theirs > ours)


def commonest_chapter(book: Book, submissions: list[Submission], folder: Path) -> str:
    sheets = [sheet for submission in submissions for sheet in submission.sheets]
    counts = {n: sum(str(number_of(n)) in x.chapters for x in sheets) for n in book.chapters}
    if not any(counts.values()):
        raise BookError(f"{folder}: no notebook checks an exercise of the book")
    return max(book.chapters, key=counts.get)


# What is asked


def questions_in(worksheet: NotebookNode, name: str) -> list[Question]:
    """Return what the worksheet of a chapter checks."""
    checks = checks_in(worksheet)
    if not checks:
        raise BookError(f"{name} has no exercise with a check")
    return [Question(find(number), answer) for number, (answer, _) in checks.items()]


def exam_questions(path: Path) -> list[Question]:
    """Return a teacher's own exercises; the name of each is that of the answer, too."""
    try:
        values = runpy.run_path(str(path))
    except Exception as error:  # whatever is wrong with it
        raise BookError(f"{path}: {type(error).__name__}: {error}") from None
    exercises = {name: value for name, value in values.items() if isinstance(value, Exercise)}
    if not exercises:
        raise BookError(f"{path} defines no Exercise")
    return [Question(exercise, name) for name, exercise in exercises.items()]


def private_seed(folder: Path) -> int:
    """Return the seed of this folder's inputs, which is drawn once and never leaves it."""
    path = folder / SEED
    if not path.exists():
        write_whole(path, f"{secrets.token_hex()}\n")
        path.chmod(0o600)
    return int.from_bytes(hashlib.sha256(path.read_bytes()).digest()[:8])


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
                notebook = submission.chosen.notebook
                submission.results |= grade(notebook, late or questions, session)
                submission.notes = notes_on(submission, framework)
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
                session.until = 0
                session.end()
            raise
    for submission in todo:
        if submission.late or not table.has(submission):  # in a table that was saved meanwhile
            table.add(graded(submission) if submission.late else submission)  # alone
    table.finish(submissions)


# The table


class Table:
    """A row for each submission, in which a teacher may write, and what to tell each of them."""

    def __init__(
        self, path: Path, asked: list[Question], worksheet: NotebookNode, salt: bytes, every: list
    ) -> None:
        self.path, self.folder, self.salt = path, path.with_suffix(""), salt
        self.exercises = [question.exercise for question in asked]
        first = {n: cells[0].source.split("\n")[0] for n, cells in by_exercise(worksheet).items()}
        self.paper, self.worth = (
            on_paper(worksheet),
            {n: x.count("★") or 1 for n, x in first.items()},
        )
        self.order = [submission.row for submission in every]
        most = {heading(e): e.number for e in self.exercises if e.inputs}
        most |= {f"{number} paper": number for number in self.paper}
        self.most = {column: self.worth.get(number, 1) for column, number in most.items()}
        graded = [c for e in self.exercises for c in (heading(e), f"{e.number} mistake")]
        paper = [column for column in self.most if column not in graded]
        self.ours = ["submission", *graded, *paper, "points", "of", "remarks", "notebook"]
        self.read()

    def read(self) -> None:
        """Read the table as a teacher has saved it; BookError where a point could be lost."""
        head, rows = cells_in(self.path) if self.path.exists() else (self.ours, [])
        alone = {x for x in head if x in self.ours or (x and head.count(x) == 1)}
        head = [x if x in alone else f"{x or 'column'} {at}" for at, x in enumerate(head, 1)]
        for name in ("submission", *self.most, "notebook"):
            if head.count(name) != 1:
                raise self.wrong(f"{head.count(name) or 'no'} column {name!r}")
        filled = {name for row in rows for name, cell in zip(head, row, strict=False) if cell}
        self.head = self.ours + [name for name in head if name in filled and name not in self.ours]
        self.rows: dict[str, dict[str, str]] = {}
        for cells in rows:
            row = dict(zip(head, cells + [""] * len(head), strict=False))
            name = row["submission"] = BY + row["submission"].removeprefix(BY).strip()
            if name in self.rows:
                raise self.wrong(f"two rows of {name!r}")
            if any(cells[len(head) :]):
                raise self.wrong(f"more cells than columns in the row of {name!r}")
            for column in self.most if name in self.order else ():
                if row[column] and number_in(row[column]) is None:
                    what = f"{column!r} of {name!r} must be a number, got {row[column]!r}"
                    raise self.wrong(what)
            self.rows[name] = row

    def wrong(self, what: str) -> BookError:
        return BookError(f"{self.path}: {what}. Mend it, then call again: nothing is written")

    def has(self, submission: Submission) -> bool:
        row = self.rows.get(submission.row, {})
        is_graded = submission.chosen and noted(row)[0] == self.digest(submission)
        is_full = all(row.get(heading(exercise)) for exercise in self.exercises)
        return bool(is_graded) and is_full and self.feedback(submission).exists()

    def digest(self, submission: Submission) -> str:
        digest = hashlib.sha256(submission.chosen.data + self.salt + repr(self.most).encode())
        return f"n{digest.hexdigest()[:16]}"  # which is no spreadsheet's number

    def add(self, submission: Submission) -> None:
        """Write the row of a submission; a point that is not what the grader gave stays."""
        self.read()
        row = self.rows.setdefault(submission.row, {"submission": submission.row})
        given, remarks, lines = noted(row)[1], [*submission.notes], []
        asked = [e for e in self.exercises if e.number in submission.results]
        for number, column, exercise in ((e.number, heading(e), e) for e in asked):
            result = submission.results[number]
            found, before = (
                self.worth.get(number, 1) * result.passed,
                number_in(row.get(column, "")),
            )
            if before in (None, found, given.get(number)):
                row[column] = str(found)
            else:
                remarks.append(f"{column}: {row[column]} by hand, {found} by the grader")
            given[number] = found
            why = ": ".join(filter(None, [result.status, result.mistake]))
            row[f"{number} mistake"] = "" if result.passed else safe(why)
            label = number if exercise.inputs else column
            lines.append(f"{label} {result.status}. {result.message}".strip())
        if submission.trouble:
            remarks.append(submission.trouble)
            lines.append(f"Not graded: {submission.trouble}")
        again = submission.trouble or submission.late  # these are looked at again
        notes = ["again" if again else self.digest(submission)]
        row["notebook"] = " / ".join(notes + [f"{n}={found:g}" for n, found in given.items()])
        row["remarks"] = safe("; ".join(remarks))
        write_whole(self.feedback(submission), "".join(f"{safe(line)}\n" for line in lines))
        self.write()

    def feedback(self, submission: Submission) -> Path:
        """Return the file for a student."""
        name = safe(submission.name).encode()[:200].decode(errors="ignore")
        return self.folder / f"{name}.txt"

    def finish(self, submissions: list[Submission]) -> None:
        """Add up what a teacher has written, and tell each student."""
        self.read()
        self.write()
        for path, row in ((self.feedback(s), self.rows[s.row]) for s in submissions):
            told = path.read_text(encoding="utf-8").partition("\n\n")[0].strip()
            of = (f"{c}: {row.get(c) or 'not marked'} of {most}" for c, most in self.most.items())
            total = f"points: {row['points'] or 'none yet'} of {row['of']}"
            write_whole(path, "\n".join([told, "", *of, total, ""]))

    def write(self) -> None:
        file = io.StringIO()
        table = csv.DictWriter(file, self.head, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        theirs = [c for c in self.head if c in self.most or c not in self.ours]
        others = [name for name in self.rows if name not in self.order]
        self.kept = [name for name in others if any(map(self.rows[name].get, theirs))]
        for row in filter(None, map(self.rows.get, [*self.order, *self.kept])):
            points = [x for c in self.most if (x := number_in(row.get(c, ""))) is not None]
            row |= {"points": f"{sum(points):g}" if points else "", "of": sum(self.most.values())}
            table.writerow(row)
        write_whole(self.path, f"\ufeff{file.getvalue()}")  # by which Excel knows UTF-8


def noted(row: dict[str, str]) -> tuple[str, dict[str, float]]:
    """Return the digest of what a row was graded from, and number -> the points given then."""
    digest, _, given = row.get("notebook", "").partition(" / ")
    return digest, {n: float(x) for n, x in re.findall(r"(.+?)=(\d+)(?: / |$)", given)}


def number_in(cell: str) -> float | None:
    with contextlib.suppress(ValueError):
        number = float(cell.replace(",", "."))
        return number if math.isfinite(number) else None
    return None


def cells_in(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of a table, with commas or what else spreadsheets put between cells."""
    with contextlib.suppress(UnicodeDecodeError, csv.Error):
        text = path.read_text(encoding="utf-8-sig")
        for table in (csv.reader(io.StringIO(text), delimiter=x) for x in ",;\t"):
            rows = [row for row in ([cell.strip() for cell in row] for row in table) if any(row)]
            for at, row in enumerate(rows):
                if "submission" in row:
                    return row, rows[at + 1 :]
    raise BookError(f"{path}: save it as CSV in UTF-8, with its column 'submission'")


def safe(value: object) -> str:
    """Return a field of the table: one line, and no formula; what differs stays different."""
    letters = str(value)[:MOST_LETTERS]
    plain = (x if x.isprintable() and x != "\\" else ascii(x)[1:-1] for x in letters)
    return "'" * letters.startswith(("=", "+", "-", "@", "'")) + "".join(plain)


def heading(exercise: Exercise) -> str:
    """Return a column; one value is no proof of work, as a friend can tell it."""
    return f"{exercise.number} {'points' if exercise.inputs else '(no point)'}"


# Answers on paper


def on_paper(worksheet: NotebookNode) -> list[str]:
    """Return the exercises that have a place for words."""
    exercises = by_exercise(worksheet).items()
    return [n for n, cells in exercises if n and any(c.source == invitation() for c in cells)]


def paper_sheets(
    table: Table, worksheet: NotebookNode, solutions: NotebookNode, submissions: list[Submission]
) -> dict[str, NotebookNode]:
    """Return number -> an exercise and its solution, and below them what each name handed in."""
    every = [number for number in by_exercise(worksheet) if number]
    asked = {cell.source for cells in by_exercise(worksheet, every).values() for cell in cells}
    answers = {s.name: by_exercise(s.chosen.notebook, every) for s in submissions if s.chosen}
    papers = {}
    for number in table.paper:
        most = table.worth[number]
        rubric = RUBRIC.format(number=number, table=table.path.name, most=most, half=most / 2)
        cells = [*by_exercise(solutions).get(number, []), new_markdown_cell(rubric)]
        before = every[every.index(number) :: -1]  # where a heading is gone, it stands below these
        for name, exercises in answers.items():
            at = next((n for n in before if n in exercises), "")
            title = f"## {safe(name)}" + f", below exercise {at}" * (at != number)
            answer = [x.copy() for x in exercises.get(at, []) if x.source not in asked]
            cells += [new_markdown_cell(title), *answer]
        papers[number] = new_notebook(cells=cells)
        name_cells(papers[number])
    return papers
