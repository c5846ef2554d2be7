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
from tqdm import tqdm

from bookbinder.answers import checked_in
from bookbinder.binding import bring_edition_diagrams, read_edition_chapters
from bookbinder.chapters import number_of
from bookbinder.classroom.grading import Grade, Question, Session, grade, started
from bookbinder.classroom.needed import checks_in
from bookbinder.classroom.paper import on_paper, paper_sheets
from bookbinder.config import Book, Edition
from bookbinder.errors import BookError
from bookbinder.files import as_text, write_whole
from bookbinder.worksheets import sheets, students, teachers
from d2l_attention.practice.exercises import Exercise, find

SEED = ".grading-seed"  # of the inputs: whoever has it can prepare answers
TABLE = "grades-{}.csv"
AT_ONCE = os.cpu_count() or 1
LARGEST = 200 * 2**20  # bytes of a notebook; a tenth of it without its outputs
MOST_LETTERS = 500  # of a field


@dataclass
class Sheet:
    """A notebook of a submission, and the numbers that it checks."""

    path: Path
    notebook: NotebookNode
    checks: list[str]


@dataclass
class Submission:
    """What one name has handed in; `trouble` says why it cannot be graded."""

    name: str
    sheets: dict[str, list[Sheet]] = field(default_factory=dict)  # by chapter; "" without a check
    chosen: Sheet | None = None  # the one that is graded
    trouble: str = ""
    found: dict[str, Grade] = field(default_factory=dict)
    late: list[Question] = field(default_factory=list)


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
    paper: list[str] = []
    if exam:
        name, number, questions = exam.stem, "", exam_questions(exam)
    else:
        name = chapter or commonest_chapter(book, edition, submissions, folder)
        chapters = [c for c in read_edition_chapters(book, edition) if c.name == name]
        number, worksheet = str(number_of(name)), sheets(book, edition, chapters, students)[name]
        questions, paper = questions_in(worksheet, name), on_paper(worksheet)
    for submission in submissions:
        choose_sheet(submission, number, questions)
    seed = private_seed(folder)
    asked = [Question(q.exercise.with_seed(seed), q.answer) for q in questions]
    salt = salt_of(asked, edition.framework, exam)
    rows = Rows(folder / TABLE.format(name), [q.exercise for q in questions], paper, salt)
    todo = [s for s in submissions if not rows.has(s)]
    grade_all(todo, asked, edition.framework, rows, submissions)
    if paper:
        bring_edition_diagrams(book, edition, chapters, rows.folder)
        solutions = sheets(book, edition, chapters, teachers)[name]
        handed = {safe(s.name): s.chosen.notebook for s in submissions if s.chosen}
        for task, sheet in paper_sheets(rows.path.name, worksheet, solutions, handed).items():
            write_whole(rows.folder / f"paper-{task}.ipynb", as_text(sheet))
    failed = [s.name for s in submissions if s.trouble]
    who = f", {len(failed)} not graded: {', '.join(map(safe, failed))}" if failed else ""
    print(f"{rows.path}: {len(submissions)} submissions{who}")


def read_folder(folder: Path) -> list[Submission]:
    """Return the submissions of a folder: files, or folders with notebooks in them."""
    if not folder.is_dir():
        raise BookError(f"SUBMISSIONS must be a folder with notebooks, got {str(folder)!r}")
    found: dict[str, Submission] = {}
    for path in notebooks_in(folder):
        name = name_of(path.relative_to(folder))
        read_sheet(found.setdefault(name, Submission(name)), path, folder)
    if not found:
        raise BookError(f"{folder} has no notebooks")
    return list(found.values())


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
        sheet = Sheet(path, notebook := nbformat.reads(text, as_version=4), [*checks_in(notebook)])
        for chapter in {number.partition(".")[0] for number in sheet.checks} or {""}:
            submission.sheets.setdefault(chapter, []).append(sheet)
    except Exception:  # whatever stands in it
        submission.trouble = f"no notebook: {name}"


def without_outputs(data: bytes) -> str:
    """Return the text of a notebook whose outputs, of any size, are left out."""

    def emptied(one: dict) -> dict:
        return one | {"outputs": []} if "outputs" in one else one

    text = data.decode(json.detect_encoding(data), "replace")
    return json.dumps(json.loads(text, object_hook=emptied))


def choose_sheet(submission: Submission, number: str, questions: list[Question]) -> None:
    """Take the notebook of a chapter, or one without a check; or say what does not fit."""
    there = submission.sheets
    every = list({sheet.path: sheet for of in there.values() for sheet in of}.values())
    fitting = there.get(number) or there.get("", []) if number else every
    if len(fitting) == 1:
        (submission.chosen,), known = fitting, {q.exercise.number for q in questions}
        checks = {n for n in submission.chosen.checks if n.startswith(f"{number}.")}
        of = f"of another version of the book: it has exercise {min(checks - known, default='')}"
        submission.trouble = of if checks - known else ""
    elif fitting:
        names = " and ".join(sheet.path.name for sheet in fitting)
        submission.trouble = f"{len(fitting)} notebooks, of which one can count: {names}"
    elif there:
        chapters = " and ".join(sorted(there))
        other = f"a notebook of chapter {chapters}, not of chapter {number}"
        submission.trouble = submission.trouble or other


def commonest_chapter(
    book: Book, edition: Edition, submissions: list[Submission], folder: Path
) -> str:
    numbers = Counter(n for s in submissions for n, of in s.sheets.items() for _ in of)
    names = {str(number_of(name)): name for name in book.chapters_of(edition)}
    known = [number for number, _ in numbers.most_common() if number in names]
    if not known:
        raise BookError(f"{folder}: no notebook checks an exercise of the book")
    first, *others = (names[number] for number in known if numbers[number] == numbers[known[0]])
    if others:
        raise BookError(f"{folder} has as many notebooks of {others[0]}: say CHAPTER={first}")
    return first


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
    found = {n: value for n, value in vars(module).items() if isinstance(value, Exercise)}
    if not found:
        raise BookError(f"{path} defines no Exercise")
    return [Question(exercise, name) for name, exercise in found.items()]


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


class Rows:
    """The table, a row for each submission, in which a teacher may write, and what to tell them."""

    def __init__(self, path: Path, exercises: list[Exercise], paper: list[str], salt: bytes):
        self.path, self.exercises, self.salt = path, exercises, salt
        self.folder = path.with_suffix("")
        self.paper = [f"{number} (paper)" for number in paper]
        graded = [c for e in exercises for c in (heading(e), f"{e.number} mistake")]
        self.head = ["submission", *graded, *self.paper, "points", "remarks", "notebook"]
        self.counted = [*(e.number for e in exercises if e.inputs), *self.paper]
        self.done = {str(row.get("submission")): row for row in rows_in(path)}

    def has(self, submission: Submission) -> bool:
        row = self.done.get(safe(submission.name), {})
        is_graded = submission.chosen and row.get("notebook") == self.digest(submission)
        return bool(is_graded) and self.told(submission).exists()

    def digest(self, submission: Submission) -> str:
        with submission.chosen.path.open("rb") as file:
            given = hashlib.file_digest(file, "sha256").digest()
        return f"n{hashlib.sha256(given + self.salt).hexdigest()[:16]}"  # no spreadsheet's number

    def add(self, submission: Submission) -> None:
        row, said = {"submission": submission.name, "remarks": submission.trouble}, []
        for exercise in self.exercises:
            if one := submission.found.get(exercise.number):
                mistake = one.status + f": {one.remark}" * bool(one.remark)
                row[heading(exercise)] = int(one.passed)
                row[f"{exercise.number} mistake"] = "" if one.passed else mistake
                said.append(f"{exercise.number} {one.status}. {one.message}")
        if not (submission.trouble or submission.late):  # these are looked at again
            row["notebook"] = self.digest(submission)
        kept = self.done.get(safe(submission.name), {})
        row = {column: safe(value) for column, value in row.items()}
        by_hand = self.counted if submission.trouble else self.paper
        self.done[row["submission"]] = row | {c: kept.get(c) or "" for c in by_hand}
        said += [f"Not graded: {submission.trouble}"] * bool(submission.trouble)
        write_whole(self.told(submission), "".join(f"{safe(line)}\n" for line in said))

    def told(self, submission: Submission) -> Path:
        """Return the file for a student."""
        name = safe(submission.name).replace("/", "%2F").encode()[:200].decode(errors="ignore")
        return self.folder / f"{name}.txt"

    def write(self, order: list[Submission]) -> None:
        file = io.StringIO()
        table = csv.DictWriter(file, self.head, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for row in (self.done[safe(s.name)] for s in order if safe(s.name) in self.done):
            given = [row[column].replace(",", ".") for column in self.counted if row.get(column)]
            try:
                row["points"] = f"{sum(map(float, given)):g}" if given else ""
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


def grade_all(
    todo: list[Submission],
    questions: list[Question],
    framework: str,
    rows: Rows,
    order: list[Submission],
) -> None:
    """Grade several at once and write each row when it is there."""
    sessions: list[Session] = []
    if todo:
        started(framework).stop()  # where there is no sandbox, nothing is graded

    def graded(submission: Submission, asked: list[Question] = questions) -> Submission:
        if submission.chosen and not submission.trouble:
            sessions.append(session := Session(framework))
            try:
                submission.found |= grade(submission.chosen.notebook, asked, session)
                submission.late = [q for q in asked if submission.found[q.exercise.number].late]
            except Exception as error:  # it must not keep the others from being graded
                submission.trouble = f"this notebook breaks the grader: {error!r}"
        return submission

    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = [pool.submit(graded, submission) for submission in todo]
        try:
            for done in tqdm(as_completed(running), total=len(running), disable=None):
                if not done.result().late:
                    rows.add(done.result())
                    rows.write(order)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for session in sessions:
                session.give_up()
            raise
    for submission in (s for s in todo if s.late):
        rows.add(graded(submission, submission.late))  # once more, with nothing beside it
        rows.write(order)
    rows.write(order)
