"""A tab of a real browser: Chromium, spoken to over its pipe (the DevTools protocol), which needs no further package."""

import base64
import fcntl
import json
import os
import re
import select
import subprocess
import time
from contextlib import contextmanager

from tests.web.test_browser import CHROMIUM, FLAGS

PATIENCE = 30
"""Seconds until a browser that does not get there counts as stuck."""


class RefusedCallError(Exception):
    """The browser refused a call."""


class Tab:
    """One page at a time, with all that it asked for and complained of."""

    def __init__(self, send, receive):
        self._send, self._receive = send, receive
        self._number, self._session, self._unread = 0, None, b""
        self.requests, self.complaints, self._loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def open(self, address, width, height=1000, dark=False):
        """Load a page at a width in pixels, for somebody who prefers light or dark pages."""
        self.requests, self.complaints, self._loaded = [], [], False
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **screen)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=address)
        while not self._loaded:
            self._read()

    def evaluate(self, expression):
        """Return the value of an expression in JavaScript."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression):
        """Return the value of an expression as soon as it counts as true; a page that is just left has none."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if value := self.evaluate(expression):
                    return value
            except RefusedCallError as error:
                if not re.search("navigated|context", str(error)):
                    raise
                value = error
            assert time.monotonic() < end, f"still {value!r}: {expression}"
            time.sleep(0.05)

    def screenshot(self, file):
        """Write what the window shows as PNG."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            pass
        if "error" in answer:
            raise RefusedCallError(f"{method}: {answer['error']}")
        return answer["result"]

    def _read(self):
        """Take the next message: an answer, or an event, which is noted."""
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._receive], [], [], PATIENCE)
            assert ready, "the browser says nothing more"
            piece = os.read(self._receive, 1 << 16)
            assert piece, "the browser ended"
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\0")
        message = json.loads(line)
        event, details = message.get("method"), message.get("params", {})
        if event == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        elif event == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{details['entry']['text']} {details['entry'].get('url', '')}")
        elif event == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(details["args"]))
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(str(details["exceptionDetails"]))
        elif event == "Page.loadEventFired":
            self._loaded = True
        return message


@contextmanager
def browser_tab(folder):
    """Start a browser whose profile lies in a folder; end it afterwards."""
    theirs, ours = zip(os.pipe(), reversed(os.pipe()), strict=True)
    # Numbers of two digits: the browser reads 3 and writes 4, and neither may be in use before.
    passed = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in theirs]
    flags = [flag for flag in FLAGS if flag != "--dump-dom"]
    command = f'exec "$@" 3<&{passed[0]} 4>&{passed[1]}'
    browser = subprocess.Popen(
        [
            "bash",
            "-c",
            command,
            "bash",
            CHROMIUM,
            *flags,
            "--remote-debugging-pipe",
            f"--user-data-dir={folder}",
        ],
        pass_fds=passed,
        stderr=subprocess.DEVNULL,
    )
    for end in (*theirs, *passed):
        os.close(end)
    try:
        tab = Tab(*ours)
        yield tab
        tab.call("Browser.close")
        browser.wait(PATIENCE)
    finally:
        browser.kill()
        browser.wait(PATIENCE)
        for end in ours:
            os.close(end)
