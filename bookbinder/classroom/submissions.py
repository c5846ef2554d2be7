"""Grade what a class has handed in: a folder of notebooks in, a table out.

The table is written anew after each submission and names the digest of what it graded, so that an
interrupted run goes on where it stopped and only what has changed is graded again.
"""

import contextlib
import csv
import hashlib
import importlib.util
import io
import os
import secrets
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode
from tqdm import tqdm

from bookbinder.answers import checked_in
from bookbinder.binding import read_edition_chapters
from bookbinder.chapters import number_of
from bookbinder.classroom.grading import Grade, Question, Session, grade, started
from bookbinder.classroom.needed import checks_in
from bookbinder.config import Book, Edition
from bookbinder.errors import BookError
from bookbinder.files import read_notebook, write_whole
from bookbinder.worksheets import sheets, students
from d2l_attention.practice.exercises import Exercise, find

SEED = ".grading-seed"  # of the inputs: whoever has it can prepare answers
TABLE = "grades-{}.csv"
AT_ONCE = os.cpu_count() or 1
LARGEST = 20 * 2**20  # bytes of a notebook
MOST_LETTERS = 500  # of a field


@dataclass
class Submission:
    """What one name has handed in; `trouble` says why it cannot be graded."""

    name: str
    paths: list[Path]
    notebook: NotebookNode | None = None
    checks: list[str] = field(default_factory=list)  # the numbers of the exercises in it
    trouble: str = ""
    found: dict[str, Grade] = field(default_factory=dict)


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
    if exam:
        name, questions = exam.stem, exam_questions(exam)
    else:
        name = chapter or commonest_chapter(book, edition, submissions, folder)
        questions = chapter_questions(book, edition, name)
        for submission in submissions:
            name_what_does_not_fit(submission, name, questions)
    seed = private_seed(folder)
    asked = [Question(q.exercise.with_seed(seed), q.answer) for q in questions]
    salt = salt_of(asked, edition.framework, exam)
    rows = Rows(folder / TABLE.format(name), [q.exercise for q in questions], salt)
    todo = [s for s in submissions if not rows.has(s)]
    grade_all(todo, asked, edition.framework, rows, submissions)
    failed = sum(bool(s.trouble) for s in submissions)
    print(f"{rows.path}: {len(submissions)} submissions" + f", {failed} not graded" * bool(failed))


def read_folder(folder: Path) -> list[Submission]:
    """Return the submissions of a folder: files, or folders with notebooks in them."""
    if not folder.is_dir():
        raise BookError(f"SUBMISSIONS must be a folder with notebooks, got {str(folder)!r}")
    found: dict[str, Submission] = {}
    for path in notebooks_in(folder):
        name = name_of(path.relative_to(folder))
        found.setdefault(name, Submission(name, [])).paths.append(path)
    if not found:
        raise BookError(f"{folder} has no notebooks")
    for submission in found.values():
        read_submission(submission, folder)
    return list(found.values())


def notebooks_in(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.match(TABLE.format("*")):
            continue
        inside = [p for p in sorted(path.rglob("*.ipynb")) if ".ipynb_checkpoints" not in p.parts]
        yield from inside or [path]


def name_of(path: Path) -> str:
    """Return whose a notebook is: `ann.ipynb`, `ann/06_scaled….ipynb` and `ann/06_…/06_….ipynb`."""
    parts = list(path.with_suffix("").parts) if path.suffix == ".ipynb" else list(path.parts)
    while len(parts) > 1 and parts[-1][:2].isdigit() and parts[-1][2:3] == "_":
        parts.pop()
    return "/".join(parts)


def read_submission(submission: Submission, folder: Path) -> None:
    names = " and ".join(p.relative_to(folder).as_posix() for p in submission.paths)
    (path, *others) = submission.paths
    if others:
        submission.trouble = f"two notebooks with this name: {names}"
    elif path.resolve() != folder.resolve() / path.relative_to(folder):
        submission.trouble = f"a link, which may lead to somebody else's: {names}"
    elif not path.is_file() or path.stat().st_size > LARGEST:
        submission.trouble = f"no notebook of at most {LARGEST // 2**20} MB: {names}"
    else:
        try:
            submission.notebook = read_notebook(path)
            submission.checks = list(checks_in(submission.notebook))
        except Exception:  # whatever stands in it
            submission.trouble = f"no notebook: {names}"


def commonest_chapter(
    book: Book, edition: Edition, submissions: list[Submission], folder: Path
) -> str:
    numbers = Counter(chapter for s in submissions for chapter in chapters_of(s))
    names = {str(number_of(name)): name for name in book.chapters_of(edition)}
    known = [number for number, _ in numbers.most_common() if number in names]
    if not known:
        raise BookError(f"{folder}: no notebook checks an exercise of the book")
    return names[known[0]]


def chapters_of(submission: Submission) -> set[str]:
    return {number.partition(".")[0] for number in submission.checks}


def chapter_questions(book: Book, edition: Edition, name: str) -> list[Question]:
    """Return what the worksheet of a chapter checks."""
    chapters = [c for c in read_edition_chapters(book, edition) if c.name == name]
    checked = {}
    for sheet in sheets(book, edition, chapters, students).values():
        checked |= checked_in(sheet)
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


def name_what_does_not_fit(submission: Submission, name: str, questions: list[Question]) -> None:
    """Say where a notebook is of another chapter, or of another version of this one."""
    known = {q.exercise.number for q in questions}
    number, there = str(number_of(name)), sorted(chapters_of(submission))
    unknown = [n for n in submission.checks if n.startswith(f"{number}.") and n not in known]
    if submission.trouble:
        return
    if number not in there:
        of = f"of chapter {' and '.join(there)}" if there else "with no check in it"
        submission.trouble = f"a notebook {of}, not of chapter {number}"
    elif unknown:
        submission.trouble = f"of another version of the book: it has exercise {unknown[0]}"


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
    """The table, a row for each submission, on disk whenever a row is new."""

    def __init__(self, path: Path, exercises: list[Exercise], salt: bytes) -> None:
        self.path, self.exercises, self.salt = path, exercises, salt
        self.head = ["submission", *map(heading, exercises), "points", "remarks", "notebook"]
        self.done: dict[str, list[str]] = {}
        if path.exists():
            with contextlib.suppress(csv.Error, UnicodeDecodeError):
                rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
                if rows and rows[0] == self.head:
                    self.done = {row[0]: row for row in rows[1:] if len(row) == len(self.head)}

    def has(self, submission: Submission) -> bool:
        row = self.done.get(safe(submission.name))
        return row is not None and row[-1] == self.digest(submission)

    def digest(self, submission: Submission) -> str:
        given = b"".join(path.read_bytes() for path in submission.paths if path.is_file())
        return hashlib.sha256(given + self.salt).hexdigest()[:16]

    def add(self, submission: Submission) -> None:
        found = [submission.found.get(e.number) for e in self.exercises]
        points = [int(bool(one and one.passed)) for one in found]
        counted = sum(p for p, e in zip(points, self.exercises, strict=True) if e.inputs)
        said = [
            f"{e.number} {one.status}" + f": {one.remark}" * bool(one.remark)
            for e, one in zip(self.exercises, found, strict=True)
            if one and not one.passed
        ]
        row = [submission.name, *points, counted, submission.trouble or "; ".join(said)]
        digest = "" if submission.trouble else self.digest(submission)  # that is looked at again
        self.done[safe(submission.name)] = [*map(safe, row), digest]

    def write(self, order: list[Submission]) -> None:
        file = io.StringIO()
        rows = [self.done[safe(s.name)] for s in order if safe(s.name) in self.done]
        csv.writer(file, lineterminator="\n").writerows([self.head, *rows])
        write_whole(self.path, file.getvalue())


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

    def graded(submission: Submission) -> Submission:
        if submission.notebook is not None and not submission.trouble:
            sessions.append(session := Session(framework))
            try:
                submission.found = grade(submission.notebook, questions, session)
            except Exception as error:  # it must not keep the others from being graded
                submission.trouble = f"this notebook breaks the grader: {error!r}"
        return submission

    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = [pool.submit(graded, submission) for submission in todo]
        try:
            for done in tqdm(as_completed(running), total=len(running), disable=None):
                rows.add(done.result())
                rows.write(order)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for session in sessions:
                session.give_up()
            raise
    rows.write(order)
