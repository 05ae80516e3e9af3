// Reads byte strings as HTTP/1.1 requests with Node's own server (llhttp) and tells what it saw.
//
// Each line of standard input is a JSON object with the bytes in base64; each line of the output lists the whole
// messages that were read from them and the error that ended the reading, if one did.
'use strict';

const http = require('node:http');
const readline = require('node:readline');
const { Duplex } = require('node:stream');

/** A socket of memory: the bytes come in, what the server writes goes nowhere. */
class Memory extends Duplex {
  constructor(bytes) {
    super({ allowHalfOpen: true });
    this.push(bytes);
    this.push(null);
  }
  _read() {}
  _write(_chunk, _encoding, done) {
    done();
  }
  setTimeout() {
    return this;
  }
  setNoDelay() {
    return this;
  }
  setKeepAlive() {
    return this;
  }
}

function read(raw) {
  return new Promise((resolve) => {
    const seen = { messages: [], error: '' };
    const server = http.createServer((request, response) => {
      const parts = [];
      request.on('data', (part) => parts.push(part));
      request.on('end', () => {
        if (request.complete) {
          seen.messages.push({
            method: request.method,
            target: request.url,
            host: request.headers.host ?? '',
            body: Buffer.concat(parts).toString('base64'),
          });
        }
        response.end();
      });
      request.on('error', () => {});
    });
    const socket = new Memory(raw);
    server.on('clientError', (error) => {
      seen.error = error.code ?? String(error);
      socket.destroy();
    });
    server.on('checkContinue', (request, response) => server.emit('request', request, response));
    socket.on('error', () => {});
    socket.on('close', () => resolve(seen));
    server.emit('connection', socket);
  });
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const seen = await read(Buffer.from(JSON.parse(line).raw, 'base64'));
    process.stdout.write(`${JSON.stringify(seen)}\n`);
  }
}

main();
