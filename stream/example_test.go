package stream_test

import (
	"context"
	"fmt"

	"github.com/a2aexec/a2aexec/stream"
)

// printer is the least a receiver has to be.
type printer struct{}

func (printer) Chunk(c stream.Chunk) error {
	for _, p := range c.Parts {
		fmt.Printf("artifact %q append=%v last=%v %s\n", c.Artifact.Name, c.Append, c.Last, render(p))
	}
	return nil
}

func (printer) Progress(text string) error {
	fmt.Printf("progress %q\n", text)
	return nil
}

func ExampleWriter() {
	w, control := stream.New(printer{})

	_ = w.Progress("looking up the account")
	_ = w.Text("The balance is ")
	_ = w.Text("12.50.")
	report := w.Artifact("report.csv", stream.Description("one row a month"))
	_ = report.File(stream.File{Name: "report.csv", MediaType: "text/csv", Bytes: []byte("jan,12.5")})
	_ = report.Close()

	// Whoever runs the code ends the writer and closes what is still open.
	_, closing := control.Close()
	for _, c := range closing {
		_ = printer{}.Chunk(c)
	}
	fmt.Println(w.Text("too late"))
	// Output:
	// progress "looking up the account"
	// artifact "" append=false last=false text:"The balance is "
	// artifact "" append=true last=false text:"12.50."
	// artifact "report.csv" append=false last=false file:report.csv:jan,12.5
	// artifact "report.csv" append=true last=true text:""
	// artifact "" append=true last=true text:""
	// stream: write after the end
}

func ExampleFromContext() {
	lookUp := func(ctx context.Context) string {
		if w, ok := stream.FromContext(ctx); ok {
			_ = w.Progress("asking the bank")
		}
		return "12.50"
	}

	w, _ := stream.New(printer{})
	fmt.Println(lookUp(stream.NewContext(context.Background(), w)))
	fmt.Println(lookUp(context.Background())) // outside of a run: silent
	// Output:
	// progress "asking the bank"
	// 12.50
	// 12.50
}
