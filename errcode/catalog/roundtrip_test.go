package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/a2aexec/a2aexec/errcode"
	"github.com/a2aexec/a2aexec/errcode/catalog"
)

// view is all that can be seen of an entry.
type view struct {
	Key           catalog.Key
	Code          errcode.Code
	Reason        string
	Languages     []string
	Titles        []string
	Params        []string
	Retriable     bool
	RetryAfter    time.Duration
	HasRetryAfter bool
	Source        string
	Error         string
}

func views(c *catalog.Catalog) []view {
	var out []view
	for _, e := range c.Entries() {
		v := view{
			Key: e.Key(), Code: e.Code(), Reason: e.Reason(), Languages: e.Languages(), Params: e.Params(),
			Retriable: e.Retriable(), Source: e.Source(), Error: c.Error(e.Key()).Error(),
		}
		for _, lang := range v.Languages {
			v.Titles = append(v.Titles, e.Title(lang))
		}
		v.RetryAfter, v.HasRetryAfter = e.RetryAfter()
		out = append(out, v)
	}
	return out
}

// languages are what drawn catalogues are written in.
var languages = []string{"en", "ko", "de", "ru", "zh-Hant", "pt-BR", "x-klingon"}

// drawText draws a title in which braces are doubled, with some of the placeholders.
func drawText(t *rapid.T, params []string) string {
	text := rapid.StringN(0, 20, -1).Filter(func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 })
	}).Draw(t, "text")
	text = strings.NewReplacer("{", "{{", "}", "}}").Replace(text)
	for _, p := range params {
		text += "{" + p + "}"
	}
	return text + "."
}

func drawCatalog(t *rapid.T) *catalog.Catalog {
	keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[!-~]{1,8}`), 0, 6, rapid.ID).Draw(t, "keys")
	def := rapid.SampledFrom(languages).Draw(t, "language")
	entries := make([]catalog.Entry, len(keys))
	for i, key := range keys {
		params := rapid.SliceOfN(rapid.StringMatching(`[a-z][a-zA-Z0-9_]{0,4}`), 0, 3).Draw(t, "params")
		var opts []catalog.EntryOption
		for _, lang := range languages {
			if lang != def && rapid.Bool().Draw(t, "has "+lang) {
				opts = append(opts, catalog.Title(lang, drawText(t, params[:len(params)/2])))
			}
		}
		if rapid.Bool().Draw(t, "has retriable") {
			opts = append(opts, catalog.Retriable(rapid.Bool().Draw(t, "retriable")))
		}
		if rapid.Bool().Draw(t, "has delay") {
			opts = append(opts, catalog.RetryAfter(time.Duration(rapid.Int64Range(0, 1<<62).Draw(t, "delay"))))
		}
		if rapid.Bool().Draw(t, "has source") {
			opts = append(opts, catalog.Source("http:"+rapid.StringMatching(`[!-~]{1,8}`).Draw(t, "source")))
		}
		entries[i] = catalog.Define(catalog.Key(key), rapid.SampledFrom(errcode.Codes()).Draw(t, "code"),
			rapid.StringMatching(`[!-~]{1,8}( [!-~]{1,4})?`).Draw(t, "reason"), drawText(t, params), opts...)
	}
	c, err := catalog.NewIn(def, rapid.StringMatching(`[a-z0-9]{1,5}(-[a-z0-9]{1,3}){0,2}`).Draw(t, "domain"), entries...)
	if err != nil {
		t.Fatalf("not valid: %v", err)
	}
	return c
}

// toYAML writes a catalogue with the YAML library, from the JSON form.
func toYAML(t *rapid.T, c *catalog.Catalog) []byte {
	type entry struct {
		Code         string
		Reason       string
		Title        map[string]string
		Retriable    *bool  `yaml:",omitempty"`
		RetryAfterMs *int64 `yaml:"retryAfterMs,omitempty"`
		Source       string `yaml:",omitempty"`
	}
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Domain, Language string
		Errors           yaml.Node
	}
	var parsed struct {
		Domain, Language string
		Errors           map[string]entry
	}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		t.Fatal(err)
	}
	all.Domain, all.Language = parsed.Domain, parsed.Language
	all.Errors.Kind = yaml.MappingNode
	for _, key := range c.Keys() { // in order
		var k, v yaml.Node
		if err := k.Encode(string(key)); err != nil {
			t.Fatal(err)
		}
		if err := v.Encode(parsed.Errors[string(key)]); err != nil {
			t.Fatal(err)
		}
		all.Errors.Content = append(all.Errors.Content, &k, &v)
	}
	out, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRoundTrip: any valid catalogue survives both formats.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCatalog(t)
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"c.json": raw, "c.yaml": toYAML(t, c)} {
			again, err := catalog.Parse(name, data)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, data)
			}
			if c.Domain() != again.Domain() || c.Language() != again.Language() {
				t.Fatalf("%s: %s %s", name, again.Domain(), again.Language())
			}
			if diff := cmp.Diff(views(c), views(again)); diff != "" {
				t.Fatalf("%s (-want +got):\n%s\n%s", name, diff, data)
			}
		}
	})
}
