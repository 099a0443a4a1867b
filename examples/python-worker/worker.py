"""A worker in Python over HTTP, with the standard library alone: python3 worker.py [--once]

LONGHAUL_URL is the node (http://localhost:3333), LONGHAUL_TOKEN a token of the role operate, if the node needs one.
"""
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("LONGHAUL_URL", "http://localhost:3333")
TOKEN = os.environ.get("LONGHAUL_TOKEN")
WORKER = f"python-{uuid.uuid4()}"


def call(path, body):
    """Sends a call. Repeating one is safe, so it is repeated until the node answers."""
    headers = {"Content-Type": "application/json"}
    if TOKEN:
        headers["Authorization"] = f"Bearer {TOKEN}"
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=90) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503, 504):
                raise
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(1)


class Lease:
    """Renews the lease of a job from a thread of its own, so that a handler may compute for hours."""

    def __init__(self, job):
        self.target = {"id": job["id"], "token": job["lease"]["token"]}
        self.seconds = job["lease"]["ms"] / 4000
        self.progress = None
        self.cancelled = threading.Event()
        self.ended = threading.Event()
        threading.Thread(target=self.renew, daemon=True).start()

    def renew(self):
        while not self.ended.wait(self.seconds):
            self.send()

    def send(self):
        body = dict(self.target)
        if self.progress:
            body["progress"] = self.progress
        try:
            if call("/api/heartbeat", body)["cancelAsked"]:
                self.cancelled.set()
        except urllib.error.HTTPError:
            self.cancelled.set()  # lease-lost: another worker has the job

    def report(self, percent, text):
        self.progress = {"percent": percent, "text": text}
        self.send()


def count_words(job, lease):
    """The handler: replace it with your own."""
    words = job["data"]["text"].split()
    for number, _word in enumerate(words, 1):
        if lease.cancelled.is_set():
            return None
        lease.report(100 * number / len(words), f"word {number}")
    return {"words": len(words)}


def work(queue, handler, once):
    while True:
        body = {"worker": WORKER, "queues": [queue], "requestId": str(uuid.uuid4()), "wait": "30s"}
        for job in call("/api/claim", body)["jobs"]:
            lease = Lease(job)
            try:
                outcome = {"kind": "complete", "result": handler(job, lease)}
            except Exception as error:
                outcome = {"kind": "fail", "failure": {"message": f"{type(error).__name__}: {error}"}}
            lease.ended.set()
            print(job["id"], call("/api/settle", {**lease.target, **outcome})["state"], flush=True)
            if once:
                return


work("words", count_words, "--once" in sys.argv)
