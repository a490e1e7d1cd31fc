package errcode_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/errcode"
)

// TestHugeDataAreRefusedEarly: 100 MB of raw JSON cost nothing, wherever they come from.
func TestHugeDataAreRefusedEarly(t *testing.T) { //nolint:paralleltest // it counts the memory of the whole process
	raw := json.RawMessage(`{"errorCode":"NOT_FOUND","errorReason":"r","errorMessage":"` + strings.Repeat("a", 100<<20) + `"}`)
	part := a2a.NewDataPart(raw)
	part.Metadata = map[string]any{"schema": errcode.Schema}
	for name, read := range map[string]func() bool{
		"raw":         func() bool { _, err := errcode.ParseData(raw); return err != nil },
		"raw pointer": func() bool { _, err := errcode.ParseData(&raw); return err != nil },
		"bytes":       func() bool { _, err := errcode.ParseData([]byte(raw)); return err != nil },
		"in a map": func() bool {
			_, err := errcode.ParseData(map[string]any{"errorCode": "NOT_FOUND", "details": raw})
			return err != nil
		},
		"in a list": func() bool {
			_, err := errcode.ParseData(map[string]any{"details": []any{[]byte(raw)}})
			return err != nil
		},
		"in a struct": func() bool { _, err := errcode.ParseData(struct{ Details json.RawMessage }{raw}); return err != nil },
		"in pieces": func() bool {
			_, err := errcode.ParseData(map[string]any{"a": raw[:600<<10], "b": raw[:600<<10]})
			return err != nil
		},
		"in slices": func() bool {
			_, err := errcode.ParseData(map[string]any{"a": []json.RawMessage{raw}})
			return err != nil
		},
		"text": func() bool { _, err := errcode.ParseData(string(raw[:5])); return err != nil },
		"task": func() bool { e, ok := errcode.FromTask(failedTask(part)); return ok && e.Code() == errcode.Internal },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		refused := read()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; !refused || used > errcode.MaxData {
			t.Errorf("%s: refused %t, took %d bytes", name, refused, used)
		}
	}
	small := json.RawMessage(`{"errorCode":"NOT_FOUND","errorReason":"r"}`)
	if _, err := errcode.ParseData(&small); err != nil {
		t.Errorf("small: %v", err)
	}
}
