package openaimodel_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/a2aexec/a2aexec/agent/tool"
	"github.com/a2aexec/a2aexec/agent/tool/openaimodel"
	"github.com/a2aexec/a2aexec/internal/modeltest"
)

// A server that speaks the API stands in for the vendor here.
func Example() {
	web := httptest.NewServer(modeltest.Answer(200, completion(hello, "stop")))
	defer web.Close()
	client := openai.NewClient(option.WithBaseURL(web.URL), option.WithAPIKey("key"), option.WithHTTPClient(web.Client()))

	loop, err := tool.NewLoop(openaimodel.New(client, "gpt-x"), nil)
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
