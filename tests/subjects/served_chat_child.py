"""A chat endpoint around a model with a chat template: ``python served_chat_child.py FOLDER PORT``."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

import torch
import transformers


class Served:
    """The model, and one reply after another."""

    def __init__(self, folder: str) -> None:
        self.name = folder
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        self.lock = Lock()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a chat completion, greedy at temperature 0."""
        text = self.tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
        ids = self.tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
        temperature, limit = body.get("temperature", 1.0), body.get("max_tokens", 16)
        drawn = {"do_sample": True, "temperature": temperature} if temperature else {"do_sample": False}
        with self.lock, torch.no_grad():
            torch.manual_seed(body.get("seed", 0))
            made = self.model.generate(ids, max_new_tokens=limit, pad_token_id=0, **drawn)[0, ids.shape[1] :]
        message = {"role": "assistant", "content": self.tokenizer.decode(made, skip_special_tokens=True)}
        finish = "length" if len(made) == limit else "stop"
        counted = {"prompt_tokens": ids.shape[1], "completion_tokens": len(made)}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return {"model": self.name, "choices": [choice], "usage": counted}


def handler(served: Served) -> type[BaseHTTPRequestHandler]:
    """Return the handler of requests to a model."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.reply({"status": "ok"})

        def do_POST(self) -> None:
            self.reply(served.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"])))))

        def reply(self, answer: dict[str, Any]) -> None:
            content = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Keep the test's output quiet."""

    return Handler


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), handler(Served(sys.argv[1]))).serve_forever()
