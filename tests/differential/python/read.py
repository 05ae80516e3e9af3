"""Reads byte strings as HTTP/1.1 requests with a parser named on the command line and tells what it saw.

Each line of standard input is a JSON object with the bytes in base64; each line of the output lists the whole
messages that were read from them and the error that ended the reading, if one did.
"""

import base64
import json
import sys


def read_h11(raw):
    """The requests that h11 finds in raw, and what ended its reading."""
    import h11

    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
    messages = []
    try:
        connection.receive_data(raw)
        connection.receive_data(b"")
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Request):
                host = dict(event.headers).get(b"host", b"")
                current = [event.method, event.target, host, b""]
            elif isinstance(event, h11.Data):
                current[3] += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                messages.append(current)
                connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
                connection.send(h11.EndOfMessage())
                connection.start_next_cycle()
            else:
                return messages, ""
    except (h11.ProtocolError, h11.LocalProtocolError) as error:
        return messages, str(error) or type(error).__name__


class Collector:
    """Collects what httptools calls back with."""

    def __init__(self):
        self.messages = []
        self.current = None

    def on_message_begin(self):
        self.current = [b"", b"", b"", b""]

    def on_url(self, url):
        self.current[1] += url

    def on_header(self, name, value):
        if name.lower() == b"host":
            self.current[2] = value

    def on_headers_complete(self):
        self.current[0] = self.parser.get_method()

    def on_body(self, body):
        self.current[3] += body

    def on_message_complete(self):
        self.messages.append(self.current)


def read_httptools(raw):
    """The requests that httptools finds in raw, and what ended its reading."""
    import httptools

    collector = Collector()
    parser = httptools.HttpRequestParser(collector)
    collector.parser = parser
    try:
        parser.feed_data(raw)
    except httptools.HttpParserError as error:
        return collector.messages, str(error) or type(error).__name__
    except httptools.HttpParserUpgrade:
        return collector.messages, "upgrade"
    return collector.messages, ""


def text(value):
    """A str for JSON that keeps every byte."""
    return value.decode("latin-1")


def main():
    """Answers each line of standard input."""
    name = sys.argv[1]
    read = {"h11": read_h11, "httptools": read_httptools}[name]
    __import__(name)
    for line in sys.stdin:
        messages, error = read(base64.b64decode(json.loads(line)["raw"]))
        seen = [
            {
                "method": text(method),
                "target": text(target),
                "host": text(host),
                "body": base64.b64encode(body).decode("ascii"),
            }
            for method, target, host, body in messages
        ]
        print(json.dumps({"messages": seen, "error": error}), flush=True)


main()
