"""Calls a server with grpcio, the C-core client, by the protocol's own stubs: prints one
JSON line for each call, with the status, the types of its details, what they say,
and the extensions that the response names.
"""

import json
import sys

import grpc
from a2a.compat.v0_3 import a2a_v0_3_pb2 as old_pb
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc as old_grpc
from a2a.types import a2a_pb2 as pb
from a2a.types import a2a_pb2_grpc
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from google.rpc import error_details_pb2, status_pb2

KNOWN = (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo, Struct)


def details(error):
    """Gives the details that the trailer holds, by their types."""
    trailer = dict(error.trailing_metadata() or ())
    status = status_pb2.Status.FromString(trailer.get('grpc-status-details-bin', b''))
    out = {}
    for detail in status.details:
        for known in KNOWN:
            message = known()
            if detail.Unpack(message):
                out[known.DESCRIPTOR.full_name] = MessageToDict(message)
    return out


def call(name, method, request):
    out = {'call': name, 'status': 'OK', 'details': {}, 'activated': ''}
    header = 'x-a2a-extensions' if name.startswith('0.3') else 'a2a-extensions'
    try:
        _, made = method.with_call(request, metadata=((header, sys.argv[2]),))
        out['activated'] = dict(made.initial_metadata()).get(header, '')
    except grpc.RpcError as error:
        out['status'] = error.code().name
        out['details'] = details(error)
    print(json.dumps(out), flush=True)


channel = grpc.insecure_channel(sys.argv[1])
current, old = a2a_pb2_grpc.A2AServiceStub(channel), old_grpc.A2AServiceStub(channel)
message = pb.Message(message_id='m', role=pb.ROLE_USER, parts=[pb.Part(text='ok')])
old_message = old_pb.Message(message_id='m', role=old_pb.ROLE_USER, content=[old_pb.Part(text='ok')])
call('1.0 extension', current.SendMessage, pb.SendMessageRequest(message=message))
call('1.0 unknown task', current.GetTask, pb.GetTaskRequest(id='no-such-task'))
call('1.0 wrong fields', current.SendMessage, pb.SendMessageRequest(message=pb.Message(reference_task_ids=[''] * 300)))
call('0.3 extension', old.SendMessage, old_pb.SendMessageRequest(request=old_message))
call('0.3 unknown task', old.GetTask, old_pb.GetTaskRequest(name='tasks/no-such-task'))
call('0.3 wrong fields', old.SendMessage, old_pb.SendMessageRequest(request=old_pb.Message(extensions=[''] * 300)))
