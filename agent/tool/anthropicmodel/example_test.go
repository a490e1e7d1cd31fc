package anthropicmodel_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/agent/tool/anthropicmodel"
	"github.com/a2aexec/a2aexec/internal/modeltest"
)

// A server that speaks the API stands in for the vendor here.
func Example() {
	web := httptest.NewServer(modeltest.Answer(200, said(hello, "end_turn")))
	defer web.Close()
	client := anthropic.NewClient(option.WithBaseURL(web.URL), option.WithAPIKey("key"), option.WithHTTPClient(web.Client()))

	loop, err := tool.NewLoop(anthropicmodel.New(client, "claude-x"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := loop.Run(context.Background(), tool.UserText("Good day!"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text, answer.Usage.OutputTokens)
	// Output: Hello. 4
}
