"""The book and its repository: files match their source, and say the same everywhere."""

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

import d2l_attention
from bookbinder.chapters import SVG, refuse_conflicts, tags_of, title_in_contents
from bookbinder.code import code_cells, read_code
from bookbinder.compose import stale_files
from bookbinder.execution import check_outputs
from bookbinder.markdown import slug
from bookbinder.module import saved_in
from bookbinder.worksheets import worksheet
from d2l_attention.practice.ladder import BEGIN, LOG
from tests.conftest import ROOT
from tests.test_exercises import EXERCISES
from tests.this_book import BOOK, GUESTS, OF, pages

FIRST = BOOK.editions[0]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("*.md"))}
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
CHECKED = {exercise.number for exercise in EXERCISES}
of_each_edition = pytest.mark.parametrize("edition", OF, ids=lambda edition: edition.framework)


@of_each_edition
def test_generated_files_are_what_the_source_gives(edition):
    assert stale_files(OF[edition], edition) == [], "run `make notebooks`"


@of_each_edition
def test_cells_are_formatted_to_79_columns_and_folded_ones_only_draw(edition, tmp_path):
    for chapter in (page.chapter for page in pages(edition)):
        for index, cell in enumerate(chapter.notebook.cells):
            if cell.cell_type == "code":
                where = chapter.where(index)
                assert max(map(len, cell.source.splitlines())) < 80, where
                draws = not re.search(r"#@save|\bcheck\(", cell.source)
                assert draws or "drawing" not in tags_of(cell), where
                file = tmp_path / (where.rpartition("/")[2].replace(":", "_line_") + ".py")
                file.write_text(cell.source.replace("#@save", "# @save") + "\n", encoding="utf-8")
    options = ["--isolated", "--no-cache", "--diff", "--line-length=79"]
    subprocess.run([sys.executable, "-m", "ruff", "format", *options, tmp_path], check=True)


def test_modules_stay_small():
    limits = {"torch": 650, "jax": 880, "tensorflow": 870}
    for name, most in limits.items() | {(f"model/{name}", 130) for name in limits}:
        text = (ROOT / f"d2l_attention/{name}.py").read_text("utf-8")
        assert text.count("\n") <= most, name


@of_each_edition
def test_no_chapter_calls_what_only_a_later_one_derives(edition):
    blocks = [(page.name, block) for page in pages(edition) for block in saved_in(page.chapter)]
    derived = {name: at for at, block in reversed(blocks) for name in (*block.names, *block.public)}
    order = ["notation", *OF[edition].chapters]  # its helpers show and check, all over
    named = rf"\bd2l\.(\w+)|\.{edition.module.stem} import (\([^)]*\)|.*)"
    for page in pages(edition):
        for name in re.findall(r"\w+", str(re.findall(named, page.code))):
            first = derived.get(name, page.name)
            assert order.index(first) <= order.index(page.name), (page.name, name, first)


@pytest.mark.parametrize("edition", BOOK.editions, ids=lambda edition: edition.framework)
def test_the_ladder_of_a_chapter_has_the_losses_and_letters_of_its_log(edition):
    rungs = re.findall(r"^(\d)\t(.*?)\t(\S*).*\t(.*)$", LOG.read_text("utf-8"), re.M)
    drawn = [(p, c) for p in pages(edition) for c in p.executed.cells if "show_ladder(" in c.source]
    assert [page.number for page, _ in drawn] == [1, 2, 3, 4, 5, 7]
    for page, cell in drawn:
        told = re.findall("<!-- (.*?) -->", cell.outputs[-1].data[SVG])
        for _, name, loss, text in (rung for rung in rungs if int(rung[0]) <= page.number):
            row = told[told.index(name) + 1 :][:3]  # perhaps with its chapter
            assert {f"{float(loss):.2f}", f"{BEGIN}{text}"[:52]} <= {*row}, (page.name, row)


@pytest.mark.slow
@of_each_edition
def test_outputs_are_whole_and_no_worksheet_shows_or_needs_a_solution(edition):
    for page in pages(edition):
        check_outputs(page.chapter, page.executed)
        sheet = worksheet(page.executed, page.name)
        kept = {line.strip() for cell in sheet.cells for line in cell.source.splitlines()}
        lines = [line.strip() for c in page.executed.cells for line in c.source.splitlines()]
        gone = [json.dumps(line)[1:-1] for line in lines if len(line) > 15 and line not in kept]
        shown = json.dumps([[cell.get("outputs"), cell.metadata] for cell in sheet.cells])
        assert [line for line in gone if line in shown] == [], page.name
        code = code_cells(page.executed)
        names = [(read_code(cell.source), "solution" in tags_of(cell)) for cell in code]
        given = set().union(*(code.bound for code, is_solution in names if not is_solution))
        used = set().union(*(code.used for code, is_solution in names if not is_solution))
        solved = set().union(*(code.bound for code, is_solution in names if is_solution))
        assert not (used - given) & solved, page.name


@of_each_edition
def test_chapters_check_the_declared_exercises_and_each_has_a_solution_that_passes(edition):
    for page in pages(edition):
        asked, solved = set(), set()
        for cell in code_cells(page.executed):
            numbers = {*re.findall(r'\bcheck\(\s*"(\d+\.\d+)"', cell.source)}
            asked |= numbers
            if "solution" in tags_of(cell):
                shown = str([output.get("data") for output in cell.outputs])
                solved |= {number for number in numbers if f"{number} passed." in shown}
        own = {number for number in CHECKED if number.startswith(f"{page.number}.")}
        declared = asked & CHECKED if page.number is None else own
        assert solved == asked == declared, page.name


def test_teachers_have_every_exercise_in_a_table_and_as_homework_once():
    texts = [line.text for page in pages(FIRST) for line in page.lines]
    numbers = re.findall(r"^### Exercise (\d+\.\d+)\b", "\n".join(texts), re.M)
    rows = re.findall(r"^\| (\d+\.\d+) \| [^|]+ \| ([^|]+) \|", PAGES["EXERCISES.md"], re.M)
    assert [(n, "check" in kind) for n, kind in rows] == [(n, n in CHECKED) for n in numbers]
    homework = re.findall(r"^\| \d+ \|(?:[^|]*\|){3} ([^|]*) \|$", PAGES["TEACHING.md"], re.M)
    assert sorted(re.findall(r"\d+\.\d+", "\n".join(homework))) == sorted(numbers)


def test_the_readme_lists_every_chapter_with_its_title_and_minutes():
    rows = re.findall(r"^\| \[(.*)\]\((.*)\) \|.*\| (\d+) \| (\d*) \|$", PAGES["README.md"], re.M)
    numbered = (page for page in pages(FIRST) if page.number is not None)
    for row, page in zip(rows, (*numbered, *GUESTS), strict=True):
        title = title_in_contents(BOOK, page.chapter)
        minutes = (str(part or "") for part in page.chapter.minutes)
        notebook = BOOK.guests.get(page.name, FIRST).notebook(page.name)
        assert row == (title, BOOK.named(notebook), *minutes)
    for part in PAGES["README.md"].split("\n| **")[1:]:
        minutes = re.findall(r"\| (\d+) \| (\d*) \|$", part, re.M)
        sums = [f"{sum(int(m or 0) for m in of) / 60:g}" for of in zip(*minutes, strict=True)]
        assert re.findall(r"\*\*([\d.]+) h\*\*", part) == sums, part


@pytest.mark.skipif(os.environ["D2L_FRAMEWORK"] != FIRST.framework, reason="it is the first one's")
def test_the_example_of_the_readme_runs(tmp_path, monkeypatch):
    (example,) = re.findall(r"```python\n(.*?)```", PAGES["README.md"], re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(example, names := {})
    assert names["output"].shape == (2, 1, 4)
    assert (tmp_path / "weights.svg").read_text().count("<svg") == 1


def test_pages_name_targets_of_make_extras_and_what_windows_runs():
    for name in ("README.md", "CONTRIBUTING.md", "TEACHING.md"):
        code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", PAGES[name], re.DOTALL))
        calls = re.findall(r"\bmake((?: +[\w./=-]+)+)", re.sub(r"(?m)(^|\s)#.*$", "", code))
        named = re.findall(r"(?<!\S)[a-z][a-z-]*(?!\S)", " ".join(calls))
        assert set() < {*named} <= {*TARGETS}, name
    assert {*",".join(re.findall(r'"\.\[([^]]+)\]"', PAGES["TEACHING.md"])).split(",")} <= {*EXTRAS}
    (lines,) = re.findall(r"^py -m venv .*?(?=^```)", PAGES["README.md"], re.M | re.S)
    workflows = [path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")]
    run = re.findall(r"- run: (python .*)", "\n".join(workflows))
    assert set() < {*run} <= {*lines.replace(".venv\\Scripts\\python", "python").splitlines()}


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere_and_no_merge_is_unresolved(name):
    refuse_conflicts(PAGES[name], name)
    for file, anchor in re.findall(r"\]\((?!https://)([^)#]*)#?([^)]*)\)", PAGES[name]):
        assert (ROOT / file).exists(), file
        titles = re.findall(r"^#+ (.*)$", PAGES[file or name], re.M) if anchor else []
        assert not anchor or anchor in map(slug, titles), anchor


def test_versions_and_licenses_fit_wherever_they_are_named():
    text = (ROOT / "constraints.txt").read_text("utf-8")
    pins = dict(re.findall(r"^([^#\s]+)==([\d.]+(?:post\d+)?)$", text.lower(), re.M))
    for line in (*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)):
        needed = Requirement(line)
        assert ">=" not in line or needed.specifier.contains(pins[needed.name.lower()]), needed
    released = re.findall(r"^## (\d\S*)", PAGES["CHANGELOG.md"], re.MULTILINE)
    assert [CITATION["version"], released[0]] == [d2l_attention.__version__] * 2
    assert PROJECT["license"] == " AND ".join(CITATION["license"])
    for file, name in zip(PROJECT["license-files"], ("MIT", "CC BY-SA 4.0"), strict=True):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert all(part in text for part in (name, CITATION["authors"][0]["name"])), file
        assert re.search(rf"\[{name}[\w ]*\]\({file}\)", PAGES["README.md"].rpartition("\n## ")[2])
