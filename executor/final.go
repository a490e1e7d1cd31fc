package executor

import (
	"bytes"
	"encoding/json"
	"slices"

	oldpb "github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The last event of a stream of A2A 0.3 says so by its field "final". The host
// sets it over JSON-RPC, but not for auth-required; over HTTP+JSON not for
// input-required either, and over gRPC not at all.

// finalEvent sets it in a server-sent event of JSON-RPC or HTTP+JSON.
func finalEvent(b []byte) []byte {
	data, ok := bytes.CutPrefix(b, eventData)
	if !ok || !bytes.Contains(data, []byte("auth-required")) && !bytes.Contains(data, []byte("_REQUIRED")) {
		return b
	}
	var tree map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&tree) != nil {
		return b
	}
	for _, key := range []string{"result", "statusUpdate"} {
		update, _ := tree[key].(map[string]any)
		status, _ := update["status"].(map[string]any)
		state, _ := status["state"].(string)
		if isParked(state) && (key == "statusUpdate" || update["kind"] == "status-update") {
			update["final"] = true
		}
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return b
	}
	return append(append(bytes.Clone(eventData), raw...), '\n', '\n')
}

func isParked(state string) bool {
	switch state {
	case "auth-required", "input-required", string(a2a.TaskStateAuthRequired), string(a2a.TaskStateInputRequired):
		return true
	}
	return false
}

// finalMessage sets it in a message of gRPC.
func finalMessage(m any) {
	response, ok := m.(*oldpb.StreamResponse)
	if !ok {
		return
	}
	if update := response.GetStatusUpdate(); update != nil && slices.Contains(lastStates, update.GetStatus().GetState()) {
		update.Final = true
	}
}

// lastStates are those in which a run ends.
var lastStates = []oldpb.TaskState{
	oldpb.TaskState_TASK_STATE_COMPLETED, oldpb.TaskState_TASK_STATE_FAILED, oldpb.TaskState_TASK_STATE_CANCELLED,
	oldpb.TaskState_TASK_STATE_REJECTED, oldpb.TaskState_TASK_STATE_INPUT_REQUIRED, oldpb.TaskState_TASK_STATE_AUTH_REQUIRED,
}
