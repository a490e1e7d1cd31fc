// Drives @a2a-js/sdk 1.x: reads one JSON request a line, answers each with one
// JSON line that holds what the client gave. README.md beside this folder
// describes both.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Role, taskStateToJSON } from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';

const base = process.argv[2];
const names = { 'JSON-RPC': 'JSONRPC', 'HTTP+JSON': 'HTTP+JSON', gRPC: 'GRPC' };

// What the last HTTP response said of extensions: the client itself has no
// word for it.
let activated = null;
const fetchImpl = async (...args) => {
  const response = await fetch(...args);
  activated = response.headers.get('A2A-Extensions') ?? response.headers.get('X-A2A-Extensions');
  return response;
};

const clients = new Map();

// clientFor makes the client that a card with only this binding leads to.
async function clientFor(binding) {
  if (clients.has(binding)) return clients.get(binding);
  const [version, name] = binding.split(' ');
  const legacyCompat = { enabled: version === '0.3' };
  const card = await new DefaultAgentCardResolver({ legacyCompat }).resolve(base);
  card.supportedInterfaces = card.supportedInterfaces.filter(
    (i) => i.protocolBinding === names[name] && i.protocolVersion === version,
  );
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
      new RestTransportFactory({ fetchImpl, legacyCompat }),
      new GrpcTransportFactory({ legacyCompat }),
    ],
  });
  const client = await factory.createFromAgentCard(card);
  clients.set(binding, client);
  return client;
}

function part(p) {
  const metadata = p.metadata ?? undefined;
  switch (p.content?.$case) {
    case 'text':
      return { text: p.content.value, metadata };
    case 'data':
      return { data: p.content.value, metadata, mediaType: p.mediaType };
    default:
      return { other: p.content?.$case ?? 'nothing', metadata };
  }
}

const status = (s) => ({ state: taskStateToJSON(s.state), parts: (s.message?.parts ?? []).map(part) });
const artifact = (a) => ({ id: a.artifactId, name: a.name, parts: a.parts.map(part) });

const task = (t) => ({
  kind: 'task', taskId: t.id, contextId: t.contextId,
  ...status(t.status), artifacts: t.artifacts.map(artifact),
});

function event(response) {
  const { $case, value } = response.payload ?? {};
  switch ($case) {
    case 'task':
      return task(value);
    case 'statusUpdate':
      return { kind: 'status', taskId: value.taskId, contextId: value.contextId, ...status(value.status) };
    case 'artifactUpdate':
      return {
        kind: 'artifact', taskId: value.taskId, contextId: value.contextId,
        artifacts: [artifact(value.artifact)], append: value.append, lastChunk: value.lastChunk,
      };
    default:
      return { kind: $case ?? 'nothing' };
  }
}

const answer = (r) => ('messageId' in r ? { kind: 'message', parts: r.parts.map(part) } : task(r));

function failure(err) {
  return {
    name: err.name, message: err.message,
    code: err.envelopeCode, status: err.statusCode, grpc: err.grpcCode ?? err.cause?.code,
  };
}

function message(request) {
  return {
    message: {
      messageId: randomUUID(), role: Role.ROLE_USER,
      taskId: request.taskId ?? '', contextId: request.contextId ?? '',
      parts: [{ content: { $case: 'text', value: request.text }, mediaType: '', filename: '', metadata: undefined }],
      metadata: undefined, extensions: [], referenceTaskIds: [],
    },
    configuration: request.op === 'submit'
      ? { acceptedOutputModes: [], returnImmediately: true, taskPushNotificationConfig: undefined }
      : undefined,
    metadata: undefined, tenant: '',
  };
}

async function perform(client, request, events) {
  const options = request.extension
    ? { serviceParameters: ServiceParameters.create(withA2AExtensions(request.extension)) }
    : undefined;
  const id = { id: request.taskId, tenant: '', metadata: undefined };
  switch (request.op) {
    case 'send':
    case 'submit':
      events.push(answer(await client.sendMessage(message(request), options)));
      return;
    case 'get':
      events.push(task(await client.getTask(id, options)));
      return;
    case 'cancel':
      events.push(task(await client.cancelTask(id, options)));
      return;
    case 'stream': {
      let canceling;
      for await (const response of client.sendMessageStream(message(request), options)) {
        const ev = event(response);
        events.push(ev);
        if (request.cancel && !canceling) canceling = client.cancelTask({ ...id, id: ev.taskId });
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
