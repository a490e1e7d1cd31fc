package sqlstore_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2aexec/a2aexec/executor"
	"github.com/a2aexec/a2aexec/executor/sqlstore"
	"github.com/a2aexec/a2aexec/internal/dbtest"
)

// pushing lets receivers be kept in the database that a test opens by itself.
func pushing(db *sqlstore.DB) executor.Option {
	return executor.PushNotifications(executor.Push{Store: db.PushConfigs(), AllowPrivateNetworks: true})
}

// A receiver that a dead process knew is told how its flow ends in another.
func TestReceiverIsToldOfARecoveredFlow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, dsn string) {
		bodies := make(chan string, 100)
		hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bodies <- string(body)
		}))
		t.Cleanup(hook.Close)
		l := newLoan()
		a := start(t, dsn, l.agent, executor.RecoverEvery(0), pushing(open(t, dsn)))
		res, err := a.SendMessage(asMe(t.Context()), &a2a.SendMessageRequest{
			Message: said("begin"),
			Config:  &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: &a2a.PushConfig{URL: hook.URL}},
		})
		if err != nil {
			t.Fatal(err)
		}
		<-l.began
		declareDead(t, dsn)
		start(t, dsn, l.agent, pushing(open(t, dsn)))
		<-l.began // by the other
		close(l.gate)
		for body := range bodies { // or until the test's time is over
			if strings.Contains(body, string(a2a.TaskStateFailed)) {
				t.Fatalf("the receiver was told %s", body)
			}
			if strings.Contains(body, string(a2a.TaskStateCompleted)) && strings.Contains(body, string(res.(*a2a.Task).ID)) { //nolint:errcheck,forcetypeassert // it would be found
				return
			}
		}
	})
}
