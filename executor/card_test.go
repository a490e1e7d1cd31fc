package executor_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	old "github.com/a2aproject/a2a-go/a2a"
	oldcard "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/google/go-cmp/cmp"

	"github.com/a2aexec/a2aexec/executor"
)

// TestCardWithSecurityIsReadByBothGenerations: the schemes were written in the
// form of 0.3 alone, and clients of 1.0 could not read the card at all.
func TestCardWithSecurityIsReadByBothGenerations(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("a"), executor.BearerAuth(executor.VerifierFunc(verifyNames)), executor.APIKeyAuth("X-API-Key", executor.VerifierFunc(verifyNames)))
	hs := httptest.NewServer(srv)
	t.Cleanup(hs.Close)
	want := a2a.NamedSecuritySchemes{
		"bearer": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"},
		"apiKey": a2a.APIKeySecurityScheme{Location: a2a.APIKeySecuritySchemeLocationHeader, Name: "X-API-Key"},
	}
	required := a2a.SecurityRequirementsOptions{{"bearer": {}}, {"apiKey": {}}}
	for name, r := range map[string]*agentcard.Resolver{
		"1.0": agentcard.NewResolver(hs.Client()), "both": {Client: hs.Client(), CardParser: a2av0.NewAgentCardParser()},
	} {
		card, err := r.Resolve(t.Context(), hs.URL)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, card.SecuritySchemes) + cmp.Diff(required, card.SecurityRequirements); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	card, err := oldcard.NewResolver(hs.Client()).Resolve(t.Context(), hs.URL)
	if err != nil {
		t.Fatalf("0.3: %v", err)
	}
	wantOld := old.NamedSecuritySchemes{
		"bearer": old.HTTPAuthSecurityScheme{Scheme: "Bearer"},
		"apiKey": old.APIKeySecurityScheme{In: old.APIKeySecuritySchemeInHeader, Name: "X-API-Key"},
	}
	if diff := cmp.Diff(wantOld, card.SecuritySchemes); diff != "" || len(card.Security) != 2 {
		t.Errorf("0.3: %v (-want +got):\n%s", card.Security, diff)
	}
	main := old.AgentInterface{URL: card.URL, Transport: card.PreferredTransport}
	if !slices.Contains(card.AdditionalInterfaces, main) {
		t.Errorf("the main URL is not among %v", card.AdditionalInterfaces)
	}
}

// TestCardHasTheMembersOfTheSpecification looks at the JSON itself.
func TestCardHasTheMembersOfTheSpecification(t *testing.T) {
	t.Parallel()
	srv := newServer(t, echo("a"), executor.BearerAuth(executor.VerifierFunc(verifyNames)), executor.APIKeyAuth("X-API-Key", executor.VerifierFunc(verifyNames)))
	var card struct {
		SecuritySchemes map[string]any `json:"securitySchemes"`
	}
	if err := json.Unmarshal(callServer(t, srv, http.MethodGet, "/.well-known/agent-card.json", "", nil).Body.Bytes(), &card); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"bearer": map[string]any{"type": "http", "scheme": "Bearer", "httpAuthSecurityScheme": map[string]any{"scheme": "Bearer"}},
		"apiKey": map[string]any{
			"type": "apiKey", "in": "header", "name": "X-API-Key",
			"apiKeySecurityScheme": map[string]any{"location": "header", "name": "X-API-Key"},
		},
	}
	if diff := cmp.Diff(want, card.SecuritySchemes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
