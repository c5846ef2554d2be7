"""The book is printed from the site, chapter after chapter, with the numbers of their pages."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import CHROMIUM, ROOT

from bookbinder.description import read_book
from bookbinder.site.printing import print_book


def test_a_chapter_is_printed_with_contents_and_references(site, tmp_path, capsys):
    pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    book = read_book(ROOT)
    (tmp_path / "_build").mkdir()
    (tmp_path / "_build/site").symlink_to(site)
    one_chapter = dataclasses.replace(book, root=tmp_path, chapters=book.chapters[5:6])
    with ThreadPoolExecutor(1) as thread:  # in this one, the other tests' browser is at work
        thread.submit(print_book, one_chapter).result()
    printed = (tmp_path / "_build/book-pytorch-en.pdf").read_bytes()
    assert printed.startswith(b"%PDF")
    pages = int(capsys.readouterr().out.split(": ")[1].split()[0])
    assert 10 < pages < 60
    contents = (tmp_path / "_build/print/book.html").read_text(encoding="utf-8")
    assert contents.count("data-page-of") == 2
    assert [p.name for p in tmp_path.glob("_build/*")].count("book-pytorch-en.pdf") == 1
