// Drives @a2a-js/sdk 0.3.x: reads one JSON request a line, answers each with one
// JSON line that holds what the client gave. README.md beside this folder
// describes both.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import {
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';

const base = process.argv[2];

// What the last HTTP response said of extensions: the client itself has no
// word for it.
let activated = null;
const fetchImpl = async (...args) => {
  const response = await fetch(...args);
  activated = response.headers.get('X-A2A-Extensions') ?? response.headers.get('A2A-Extensions');
  return response;
};

const transports = {
  'JSON-RPC': () => new JsonRpcTransportFactory({ fetchImpl }),
  'HTTP+JSON': () => new RestTransportFactory({ fetchImpl }),
  gRPC: () => new GrpcTransportFactory(),
};

const clients = new Map();

// clientFor makes a client that speaks this binding only; it finds the address
// in the card by itself.
async function clientFor(binding) {
  if (clients.has(binding)) return clients.get(binding);
  const client = await new ClientFactory({ transports: [transports[binding.split(' ')[1]]()] }).createFromUrl(base);
  clients.set(binding, client);
  return client;
}

function part(p) {
  switch (p.kind) {
    case 'text':
      return { text: p.text, metadata: p.metadata };
    case 'data':
      return { data: p.data, metadata: p.metadata };
    default:
      return { other: p.kind ?? 'nothing', metadata: p.metadata };
  }
}

const status = (s) => ({ state: s.state, parts: (s.message?.parts ?? []).map(part) });
const artifact = (a) => ({ id: a.artifactId, name: a.name, parts: a.parts.map(part) });

function event(e) {
  const ids = { taskId: e.taskId, contextId: e.contextId };
  switch (e.kind) {
    case 'task':
      return {
        kind: 'task', taskId: e.id, contextId: e.contextId,
        ...status(e.status), artifacts: (e.artifacts ?? []).map(artifact),
      };
    case 'status-update':
      return { kind: 'status', ...ids, ...status(e.status), final: e.final };
    case 'artifact-update':
      return { kind: 'artifact', ...ids, artifacts: [artifact(e.artifact)], append: e.append, lastChunk: e.lastChunk };
    case 'message':
      return { kind: 'message', parts: e.parts.map(part) };
    default:
      return { kind: e.kind ?? 'nothing' };
  }
}

function failure(err) {
  return {
    name: err.name === 'Error' ? err.constructor.name : err.name, message: err.message,
    code: err.errorResponse?.error?.code, grpc: err.cause?.code ?? err.code,
  };
}

function message(request) {
  return {
    message: {
      kind: 'message', messageId: randomUUID(), role: 'user',
      taskId: request.taskId, contextId: request.contextId,
      parts: [{ kind: 'text', text: request.text }],
    },
    configuration: request.op === 'submit' ? { blocking: false } : undefined,
  };
}

async function perform(client, request, events) {
  const options = request.extension
    ? { serviceParameters: ServiceParameters.create(withA2AExtensions(request.extension)) }
    : undefined;
  switch (request.op) {
    case 'send':
    case 'submit':
      events.push(event(await client.sendMessage(message(request), options)));
      return;
    case 'get':
      events.push(event(await client.getTask({ id: request.taskId }, options)));
      return;
    case 'cancel':
      events.push(event(await client.cancelTask({ id: request.taskId }, options)));
      return;
    case 'stream': {
      let canceling;
      for await (const e of client.sendMessageStream(message(request), options)) {
        const ev = event(e);
        events.push(ev);
        if (request.cancel && !canceling) canceling = client.cancelTask({ id: ev.taskId });
      }
      await canceling;
      return;
    }
    default:
      throw new Error(`no operation ${request.op}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const events = [];
  let error;
  activated = null;
  try {
    await perform(await clientFor(request.binding), request, events);
  } catch (err) {
    error = failure(err);
  }
  console.log(JSON.stringify({ events, error, activated }));
}
process.exit(0);
