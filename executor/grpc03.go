package executor

import (
	"slices"
	"strings"

	"github.com/a2aexec/a2aexec/internal/schema"
)

// What gRPC 0.3 has otherwise than the other bindings: some names of methods,
// and resources in the place of ids.

// grpc03 has the operations of gRPC 0.3, by their methods.
var grpc03 = map[string]struct {
	name string // in A2A 1.0
	rule schema.Rule
}{
	opSendMessage:                      {opSendMessage, schema.SendMessageREST03},
	opSendStreaming:                    {opSendStreaming, schema.SendMessageREST03},
	"GetTask":                          {"GetTask", schema.GetTaskGRPC03},
	"ListTasks":                        {"ListTasks", schema.ListTasksREST03},
	"CancelTask":                       {"CancelTask", schema.TaskGRPC03},
	"TaskSubscription":                 {"SubscribeToTask", schema.TaskGRPC03},
	"CreateTaskPushNotificationConfig": {"CreateTaskPushNotificationConfig", schema.CreatePushGRPC03},
	"GetTaskPushNotificationConfig":    {"GetTaskPushNotificationConfig", schema.GetPushGRPC03},
	"ListTaskPushNotificationConfig":   {"ListTaskPushNotificationConfigs", schema.ListPushGRPC03},
	opDeletePush:                       {opDeletePush, schema.PushGRPC03},
	"GetAgentCard":                     {"GetExtendedAgentCard", schema.None},
}

func byGRPC03(method string) (*operation, schema.Rule) {
	at := grpc03[method]
	i := slices.IndexFunc(operations, func(o operation) bool { return o.name == at.name })
	if i < 0 {
		return nil, nil
	}
	return &operations[i], at.rule
}

// taskOfResource is the id in "tasks/{id}" and in the names below it.
func taskOfResource(name string) string {
	rest, _ := strings.CutPrefix(name, "tasks/")
	id, _, _ := strings.Cut(rest, "/")
	return id
}
