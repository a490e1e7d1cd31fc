package catalog

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readYAML reads the only document of a YAML file. Aliases are refused, not followed, so the
// result is no larger than the file.
func readYAML(name string, data []byte, r *report) (root node, ok bool) {
	defer func() {
		if recover() != nil { // the YAML library gave up on it
			r.add(spot{file: name}, "", "not readable as YAML")
			root, ok = node{}, false
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); err != nil {
		yamlFault(name, err, r)
		return node{}, false
	}
	if err := dec.Decode(&next); err == nil {
		r.add(spot{file: name, line: next.Line, col: next.Column}, "", "a second document")
	} else if !errors.Is(err, io.EOF) {
		yamlFault(name, err, r)
	}
	y := yamlReader{file: name, report: r}
	return y.read(doc.Content[0], 0), true
}

var yamlLine = regexp.MustCompile(`^line ([0-9]+): `)

// yamlFault reports a syntax error, for which the library gives at most the line.
func yamlFault(name string, err error, r *report) {
	if errors.Is(err, io.EOF) {
		r.add(spot{file: name, line: 1, col: 1}, "", "the file is empty")
		return
	}
	at, msg := spot{file: name}, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		at.line, _ = strconv.Atoi(m[1])
		msg = msg[len(m[0]):]
	}
	r.add(at, "", "bad YAML: %s", msg)
}

// yamlReader turns the library's nodes into ours.
type yamlReader struct {
	file   string
	report *report
}

func (y *yamlReader) fail(at spot, format string, args ...any) {
	y.report.add(at, "", format, args...)
}

// read goes on after a fault, so that the others are found too.
func (y *yamlReader) read(n *yaml.Node, depth int) node {
	at := spot{file: y.file, line: n.Line, col: n.Column}
	if n.Anchor != "" {
		y.fail(at, "anchors are not allowed")
	}
	switch {
	case n.Kind == yaml.AliasNode:
		y.fail(at, "aliases are not allowed")
		return node{at: at}
	case depth > maxDepth:
		y.fail(at, "nested too deep")
		return node{at: at}
	case n.Kind == yaml.SequenceNode:
		return y.list(n, at, depth)
	case n.Kind == yaml.MappingNode:
		return y.mapping(n, at, depth)
	default:
		return node{kind: yamlKind(n), text: n.Value, at: at}
	}
}

// list reads what is in a list only to find faults there: no list has a place in a catalogue.
func (y *yamlReader) list(n *yaml.Node, at spot, depth int) node {
	for _, c := range n.Content {
		y.read(c, depth+1)
	}
	return node{kind: kindList, at: at}
}

func (y *yamlReader) mapping(n *yaml.Node, at spot, depth int) node {
	out := node{kind: kindMap, at: at, fields: make([]field, 0, len(n.Content)/2)}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := y.read(n.Content[i], depth+1)
		value := y.read(n.Content[i+1], depth+1)
		switch key.kind {
		case kindString, kindInt, kindFloat: // 1001 is a fine key
			out.fields = append(out.fields, field{key: key.text, at: key.at, value: value})
		case kindBroken:
			out.lost = true
		default:
			out.lost = true
			y.fail(key.at, "a key must be a string, not %s; put it in quotes if it is one", key.kind)
		}
	}
	return out
}

// yamlKind returns the type of a scalar.
func yamlKind(n *yaml.Node) kind {
	switch tag := n.ShortTag(); tag {
	case "!!str":
		return kindString
	case "!!int":
		return kindInt
	case "!!float":
		return kindFloat
	case "!!bool":
		return kindBool
	case "!!null":
		return kindNull
	default:
		return kind("a value of type " + printable(tag))
	}
}
