"""Every page of the built book, opened from disk in Chromium."""

import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.built_book import built_book, toc_files

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
PHONE, DESKTOP = (390, 844), (1280, 900)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on this machine: install Debian's chromium to run this"
    ),
]
each_page = pytest.mark.parametrize("name", toc_files())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
    context.set_default_timeout(120_000)  # a busy machine is slow, not wrong
    yield context.new_page()
    context.close()


def address(name: str) -> str:
    return (built_book() / f"{name}.html").as_uri()


@each_page
def test_page_opens_without_errors_and_without_network(page: Page, name: str):
    errors: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address(name), wait_until="load")
    page.wait_for_timeout(300)
    assert errors == []
    assert {url[:200] for url in requests if urlsplit(url).scheme not in ("file", "data", "blob")} == set()


@each_page
def test_page_does_not_scroll_sideways_on_a_phone(page: Page, name: str):
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto(address(name), wait_until="load")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_equations_are_typeset_without_network(page: Page):
    page.goto(address("book/notation"), wait_until="load")
    page.wait_for_selector("mjx-container")
    assert page.locator("mjx-container").count() > 10


def test_search_finds_a_page(page: Page):
    page.goto((built_book() / "search.html").as_uri() + "?q=squash", wait_until="load")
    page.wait_for_selector("#search-results li")
    assert page.locator("#search-results li").count() > 0
