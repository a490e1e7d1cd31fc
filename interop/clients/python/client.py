"""Drives a2a-sdk 1.x: reads one JSON request a line, answers each with one JSON
line that holds what the client gave. README.md beside this folder describes
both.
"""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client import ClientCallContext
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import MessageToDict

NAMES = {'JSON-RPC': 'JSONRPC', 'HTTP+JSON': 'HTTP+JSON', 'gRPC': 'GRPC'}


class Driver:
    def __init__(self, base):
        self.base = base
        self.activated = None
        self.http = httpx.AsyncClient(timeout=60, event_hooks={'response': [self.note_extensions]})
        self.clients = {}

    async def note_extensions(self, response):
        """Keeps what a response says of extensions: the client has no word for it."""
        for name in ('A2A-Extensions', 'X-A2A-Extensions'):
            self.activated = response.headers.get(name, self.activated)

    async def client(self, binding, streaming):
        """Gives the client that a card with only this binding leads to."""
        key = (binding, streaming)
        if key not in self.clients:
            version, name = binding.split(' ')
            card = await A2ACardResolver(self.http, self.base).get_agent_card()
            keep = [
                i for i in card.supported_interfaces
                if i.protocol_binding == NAMES[name] and i.protocol_version == version
            ]
            del card.supported_interfaces[:]
            card.supported_interfaces.extend(keep)
            config = ClientConfig(
                streaming=streaming, httpx_client=self.http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_protocol_bindings=[NAMES[name]],
            )
            self.clients[key] = ClientFactory(config).create(card)
        return self.clients[key]

    async def perform(self, request, events):
        op = request['op']
        client = await self.client(request['binding'], op == 'stream')
        context = None
        if extension := request.get('extension'):
            parameters = ServiceParametersFactory.create([with_a2a_extensions([extension])])
            context = ClientCallContext(service_parameters=parameters)
        task_id = request.get('taskId', '')
        if op == 'get':
            events.append(task(await client.get_task(pb.GetTaskRequest(id=task_id), context=context)))
        elif op == 'cancel':
            events.append(task(await client.cancel_task(pb.CancelTaskRequest(id=task_id), context=context)))
        elif op in ('send', 'submit', 'stream'):
            await self.send(client, request, context, events)
        else:
            raise ValueError(f'no operation {op}')

    async def send(self, client, request, context, events):
        params = pb.SendMessageRequest(message=pb.Message(
            message_id=str(uuid.uuid4()), role=pb.ROLE_USER, parts=[pb.Part(text=request['text'])],
            task_id=request.get('taskId', ''), context_id=request.get('contextId', ''),
        ))
        if request['op'] == 'submit':
            params.configuration.return_immediately = True
        canceling = None
        async for response in client.send_message(params, context=context):
            events.append(event(response))
            if request.get('cancel') and canceling is None:
                canceling = asyncio.create_task(client.cancel_task(pb.CancelTaskRequest(id=events[-1]['taskId'])))
        if canceling:
            await canceling


def part(p):
    out = {'metadata': MessageToDict(p.metadata)}
    match p.WhichOneof('content'):
        case 'text':
            out['text'] = p.text
        case 'data':
            out['data'] = MessageToDict(p.data)
            out['mediaType'] = p.media_type
        case other:
            out['other'] = str(other)
    return out


def status(s):
    return {'state': pb.TaskState.Name(s.state), 'parts': [part(p) for p in s.message.parts]}


def artifact(a):
    return {'id': a.artifact_id, 'name': a.name, 'parts': [part(p) for p in a.parts]}


def task(t):
    return {
        'kind': 'task', 'taskId': t.id, 'contextId': t.context_id,
        **status(t.status), 'artifacts': [artifact(a) for a in t.artifacts],
    }


def event(response):
    kind = response.WhichOneof('payload')
    if kind == 'task':
        return task(response.task)
    if kind == 'message':
        return {'kind': 'message', 'parts': [part(p) for p in response.message.parts]}
    update = getattr(response, kind)
    ids = {'taskId': update.task_id, 'contextId': update.context_id}
    if kind == 'status_update':
        return {'kind': 'status', **ids, **status(update.status)}
    return {
        'kind': 'artifact', **ids, 'artifacts': [artifact(update.artifact)],
        'append': update.append, 'lastChunk': update.last_chunk,
    }


async def main():
    driver = Driver(sys.argv[1])
    lines = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        events, error = [], None
        driver.activated = None
        try:
            await driver.perform(json.loads(line), events)
        except Exception as err:  # whatever the client raises is what is asked for
            error = {'name': type(err).__name__, 'message': str(err)}
        print(json.dumps({'events': events, 'error': error, 'activated': driver.activated}), flush=True)


asyncio.run(main())
