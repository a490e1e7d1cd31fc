"""Drives a2a-sdk 0.3.x: reads one JSON request a line, answers each with one JSON
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
from a2a.types import (
    Message,
    MessageSendConfiguration,
    Part,
    Role,
    Task,
    TaskIdParams,
    TaskQueryParams,
    TaskStatusUpdateEvent,
    TextPart,
    TransportProtocol,
)

NAMES = {
    'JSON-RPC': TransportProtocol.jsonrpc,
    'HTTP+JSON': TransportProtocol.http_json,
    'gRPC': TransportProtocol.grpc,
}


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
        """Gives a client that speaks this binding only; it finds the address in the card."""
        key = (binding, streaming)
        if key not in self.clients:
            card = await A2ACardResolver(self.http, self.base).get_agent_card()
            config = ClientConfig(
                streaming=streaming, httpx_client=self.http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_transports=[NAMES[binding.split(' ')[1]]], use_client_preference=True,
            )
            self.clients[key] = ClientFactory(config).create(card)
        return self.clients[key]

    async def perform(self, request, events):
        op = request['op']
        client = await self.client(request['binding'], op == 'stream')
        extensions = [request['extension']] if 'extension' in request else None
        task_id = request.get('taskId')
        if op == 'get':
            events.append(task(await client.get_task(TaskQueryParams(id=task_id), extensions=extensions)))
        elif op == 'cancel':
            events.append(task(await client.cancel_task(TaskIdParams(id=task_id), extensions=extensions)))
        elif op in ('send', 'submit', 'stream'):
            await self.send(client, request, extensions, events)
        else:
            raise ValueError(f'no operation {op}')

    async def send(self, client, request, extensions, events):
        message = Message(
            message_id=str(uuid.uuid4()), role=Role.user, parts=[Part(root=TextPart(text=request['text']))],
            task_id=request.get('taskId'), context_id=request.get('contextId'),
        )
        configuration = MessageSendConfiguration(blocking=False) if request['op'] == 'submit' else None
        canceling = None
        async for answer in client.send_message(message, configuration=configuration, extensions=extensions):
            events.append(event(answer))
            if request.get('cancel') and canceling is None:
                canceling = asyncio.create_task(client.cancel_task(TaskIdParams(id=events[-1]['taskId'])))
        if canceling:
            await canceling


def part(p):
    out = {'metadata': p.root.metadata}
    if p.root.kind in ('text', 'data'):
        out[p.root.kind] = getattr(p.root, p.root.kind)
    else:
        out['other'] = p.root.kind
    return out


def status(s):
    return {'state': s.state.value, 'parts': [part(p) for p in s.message.parts] if s.message else []}


def artifact(a):
    return {'id': a.artifact_id, 'name': a.name, 'parts': [part(p) for p in a.parts]}


def task(t):
    return {
        'kind': 'task', 'taskId': t.id, 'contextId': t.context_id,
        **status(t.status), 'artifacts': [artifact(a) for a in t.artifacts or []],
    }


def event(answer):
    """The client gives a message, or the task so far and what changed it last."""
    if isinstance(answer, Message):
        return {'kind': 'message', 'parts': [part(p) for p in answer.parts]}
    so_far, update = answer
    if update is None or isinstance(update, Task):
        return task(so_far)
    ids = {'taskId': update.task_id, 'contextId': update.context_id}
    if isinstance(update, TaskStatusUpdateEvent):
        return {'kind': 'status', **ids, **status(update.status), 'final': update.final}
    return {
        'kind': 'artifact', **ids, 'artifacts': [artifact(update.artifact)],
        'append': update.append, 'lastChunk': update.last_chunk,
    }


def failure(err):
    """Whatever the client raises, with the numbers that it keeps."""
    error = getattr(err, 'error', None)
    return {
        'name': type(err).__name__, 'message': str(err),
        'code': getattr(error, 'code', None), 'status': getattr(err, 'status_code', None),
        'grpc': err.code().value[0] if isinstance(err, grpc.aio.AioRpcError) else None,
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
            error = failure(err)
        print(json.dumps({'events': events, 'error': error, 'activated': driver.activated}), flush=True)


asyncio.run(main())
