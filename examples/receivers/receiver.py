# WEBHOOK_SECRET=whsec_... python3 receiver.py
import base64
import hashlib
import hmac
import json
import os
import sqlite3
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
DATABASE = os.environ.get("DATABASE", "receiver.sqlite")
TOLERANCE_SECONDS = 300
MAX_BYTES = 1_048_576

TABLE = "CREATE TABLE IF NOT EXISTS fact (id TEXT PRIMARY KEY, event TEXT, height INTEGER, blockId TEXT, retracted INTEGER)"
# A fact that arrives twice, or after its retraction, changes nothing. Put your own changes into the same transaction.
APPLY = "INSERT INTO fact VALUES (?, ?, ?, ?, 0) ON CONFLICT DO NOTHING"
RETRACT = "INSERT INTO fact (id, retracted) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET retracted = 1"
FACTS = "SELECT id, event, height, blockId FROM fact WHERE retracted = 0"


def query(statement, values=()):
    with closing(sqlite3.connect(DATABASE, timeout=10)) as database, database:
        return database.execute(statement, values).fetchall()


def is_genuine(headers, body):
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    # While the secret is rotated there are two signatures.
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(signature, f"v1,{digest}") for signature in given)


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if not 0 <= length <= MAX_BYTES:
            return self.respond(413)
        body = self.rfile.read(length)
        if not is_genuine(self.headers, body):
            return self.respond(401)
        delivery = json.loads(body)
        if "reverts" in delivery:
            query(RETRACT, [delivery["reverts"]])
        else:
            query(APPLY, [delivery.get(name) for name in ("id", "event", "height", "blockId")])
        self.respond(204)

    def do_GET(self):
        # The view for `uniknode conform`.
        if "CONFORM" not in os.environ:
            return self.respond(404)
        names = ("id", "event", "height", "blockId")
        self.respond(200, json.dumps({"facts": [dict(zip(names, row)) for row in query(FACTS)]}).encode())

    def respond(self, status, body=b""):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    # With the default of 5, connections of a burst wait a second.
    request_queue_size = 128


query(TABLE)
Server(("127.0.0.1", int(os.environ.get("PORT", 8000))), Receiver).serve_forever()
