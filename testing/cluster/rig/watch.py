"""Yields the events of `kubectl get --watch --output-watch-events -o json` as they arrive."""

import codecs
import contextlib
import json
import os
import selectors
import subprocess
import time

from testing.processes import Failed, dying_with_parent


def watch(command, env, patience_s):
    """Yields (ADDED, MODIFIED or DELETED, object) one after the other, until `patience_s` seconds have passed."""
    end = time.monotonic() + patience_s
    process = subprocess.Popen(dying_with_parent(command), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        text = ""
        for chunk in _chunks(process.stdout, end):
            text += chunk
            events, text = _split(text)
            yield from events
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)  # its pipe closes a moment before it ends
        if process.returncode:
            raise Failed(f"{' '.join(command[-8:])}: {process.stderr.read().decode(errors='replace').strip()}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def _chunks(pipe, end):
    """Yields what arrives on a pipe, until the pipe is closed or time is up."""
    decoder = codecs.getincrementaldecoder("utf-8")()  # a chunk may end within a character
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(max(0.0, end - time.monotonic())):
            chunk = os.read(pipe.fileno(), 1 << 16)
            if not chunk:
                return
            yield decoder.decode(chunk)


def _split(text):
    """Returns the complete JSON documents at the start of a text as events, and the rest of the text."""
    decoder, events = json.JSONDecoder(), []
    while True:
        text = text.lstrip()
        try:
            document, length = decoder.raw_decode(text)
        except ValueError:
            return events, text
        events.append((document["type"], document["object"]))
        text = text[length:]
