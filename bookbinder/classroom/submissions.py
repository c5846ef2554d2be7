"""Grade what a class has handed in: a folder of notebooks in; a table and what students get, out.

The table is written anew after each submission and names the digest of what it graded, so that an
interrupted run goes on where it stopped and only what has changed is graded again.
"""

import csv
import hashlib
import io
import os
import runpy
import secrets
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook
from tqdm import tqdm

from bookbinder.binding import as_stored, read_edition_chapters
from bookbinder.chapters import name_cells, number_of
from bookbinder.classroom.grading import Question, Session, grade, is_late, started
from bookbinder.config import Book, Edition
from bookbinder.diagrams import bring_diagrams
from bookbinder.files import BookError, as_text, write_whole
from bookbinder.publish import unexecuted
from bookbinder.worksheets import by_exercise, checks_in, invitation, sheets
from d2l_attention.practice.checking import Result
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
    """A notebook of a submission, and the numbers of the chapters of which it checks exercises."""

    path: Path
    notebook: NotebookNode
    chapters: set[str]


@dataclass
class Submission:
    """What one name has handed in; `trouble` says why it cannot be graded."""

    name: str
    sheets: list[Sheet] = field(default_factory=list)
    chosen: Sheet | None = None  # the one that is graded
    trouble: str = ""
    results: dict[str, Result] = field(default_factory=dict)

    @property
    def late(self) -> list[str]:
        return [number for number, result in self.results.items() if is_late(result)]


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
    worksheet = sheets(book, edition, chapters).get(name, new_notebook())
    questions = exam_questions(exam) if exam else questions_in(worksheet, name)
    for submission in submissions:
        choose_sheet(submission, "" if exam else str(number_of(name)))
    seed = private_seed(folder)
    asked = [Question(q.exercise.with_seed(seed), q.answer) for q in questions]
    salt = salt_of(asked, edition.framework, exam)
    table = Table(folder / TABLE.format(name), asked, on_paper(worksheet), salt, submissions)
    grade_all(submissions, asked, edition.framework, table)
    if table.paper:
        bring_diagrams(book, edition, chapters, table.folder)
        (chapter,) = chapters
        solutions = as_stored(book, edition, chapter)
        papers = paper_sheets(table.path.name, worksheet, solutions, submissions)
        for task, sheet in papers.items():
            write_whole(table.folder / f"paper-{task}.ipynb", as_text(sheet))
    failed = [safe(s.name) for s in submissions if s.trouble]
    who = f", {len(failed)} not graded: {', '.join(failed)}" if failed else ""
    print(f"{table.path}: {len(submissions)} submissions{who}")


# What is handed in


def read_folder(folder: Path) -> list[Submission]:
    """Return the submissions of a folder: a notebook, or a folder with some, for each name."""
    if not folder.is_dir():
        raise BookError(f"SUBMISSIONS must be a folder with notebooks, got {str(folder)!r}")
    ours = {table.with_suffix("") for table in folder.glob(TABLE.format("*"))}
    submissions: dict[str, Submission] = {}
    for path in sorted(folder.iterdir()):
        is_folder = path.is_dir() and path not in ours
        if path.name.startswith(".") or not (is_folder or path.suffix == ".ipynb"):
            continue
        stem = path.name if is_folder else path.stem
        name = stem.partition("_assignsubmission_")[0]  # which Moodle writes behind it
        submission = submissions.setdefault(name, Submission(name))
        for inner in sorted(path.rglob("*.ipynb")) if is_folder else [path]:
            if ".ipynb_checkpoints" not in inner.parts:
                read_sheet(submission, inner, folder)
    if not submissions:
        raise BookError(f"{folder} has no notebooks")
    return list(submissions.values())


def read_sheet(submission: Submission, path: Path, folder: Path) -> None:
    name = path.relative_to(folder).as_posix()
    if path.resolve() != folder.resolve() / name:
        submission.trouble = f"a link, which may lead to somebody else's: {name}"
        return
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise ValueError
        text = path.read_text(encoding="utf-8-sig")
        notebook = unexecuted(nbformat.reads(text, as_version=4))
        by_exercise(notebook)  # raises where a cell has no text
        if len(as_text(notebook)) > LARGEST // 10:
            raise ValueError
        chapters = {number.partition(".")[0] for number in checks_in(notebook)}
        submission.sheets.append(Sheet(path, notebook, chapters))
    except Exception:  # whatever stands in it
        submission.trouble = f"no notebook, or too large a one: {name}"


def choose_sheet(submission: Submission, chapter: str) -> None:
    """Take the notebook of a chapter, or one without a check; or say what does not fit."""
    every = submission.sheets
    fitting = [sheet for sheet in every if not chapter or chapter in sheet.chapters]
    fitting = fitting or [sheet for sheet in every if not sheet.chapters]
    names = " and ".join(sheet.path.name for sheet in fitting or every)
    if len(fitting) == 1:
        submission.chosen, submission.trouble = fitting[0], ""
    elif fitting:
        submission.trouble = f"{len(fitting)} notebooks, of which one can count: {names}"
    else:
        other = f"not of chapter {chapter}: {names}" if every else f"no notebook: {submission.name}"
        submission.trouble = submission.trouble or other


def commonest_chapter(
    book: Book, edition: Edition, submissions: list[Submission], folder: Path
) -> str:
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
                notebook = submission.chosen.notebook
                submission.results |= grade(notebook, late or questions, session)
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
        digest = hashlib.sha256(submission.chosen.path.read_bytes() + self.salt).hexdigest()
        return f"n{digest[:16]}"  # which is no spreadsheet's number

    def add(self, submission: Submission) -> None:
        row, lines = {"submission": submission.name, "remarks": submission.trouble}, []
        for exercise in self.exercises:
            if result := submission.results.get(exercise.number):
                mistake = ": ".join(filter(None, [result.status, result.mistake]))
                row[heading(exercise)] = int(result.passed)
                row[f"{exercise.number} mistake"] = "" if result.passed else mistake
                lines.append(f"{exercise.number} {result.status}. {result.message}")
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
        name = safe(submission.name).encode()[:200].decode(errors="ignore")
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
        delimiter = ";" if ";" in text.partition("\n")[0] else ","
        return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
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
    counted = {number for number in checks_in(worksheet) if find(number).inputs is not None}
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
