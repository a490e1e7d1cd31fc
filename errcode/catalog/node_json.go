package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// readJSON reads the only value of a JSON file, keeping places and duplicate keys.
func readJSON(name string, data []byte, r *report) (root node, ok bool) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	j := jsonReader{file: name, data: data, report: r, last: spot{file: name, line: 1, col: 1}, dec: json.NewDecoder(bytes.NewReader(data))}
	j.dec.UseNumber()
	root, err := j.read(0)
	if err == nil {
		at := j.next()
		if _, end := j.dec.Token(); !errors.Is(end, io.EOF) {
			r.add(at, "", "bad JSON: more after the end of the value")
			return node{}, false
		}
		return root, true
	}
	j.fault(err, r)
	return node{}, false
}

// fault reports why the file is not JSON, at the token that is wrong.
func (j *jsonReader) fault(err error, r *report) {
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(j.data)) == 0:
		r.add(spot{file: j.file, line: 1, col: 1}, "", "the file is empty")
	case errors.As(err, &syntax) && !strings.HasPrefix(syntax.Error(), "unexpected end"):
		r.add(j.next(), "", "bad JSON: %s", syntax)
	default:
		r.add(j.next(), "", "bad JSON: the file ends in the middle")
	}
}

// jsonReader turns JSON tokens into nodes.
type jsonReader struct {
	file   string
	data   []byte
	report *report
	dec    *json.Decoder
	// last is the place of the offset that was asked for last. Tokens come in order, so the next
	// place is counted from there, and the whole file is counted through once.
	last   spot
	offset int
}

// at returns the place of an offset, which is not before that of an earlier call.
func (j *jsonReader) at(offset int) spot {
	offset = min(max(offset, j.offset), len(j.data))
	passed := j.data[j.offset:offset]
	j.offset = offset
	if n := bytes.Count(passed, []byte{'\n'}); n > 0 {
		j.last.line += n
		j.last.col = 1
		passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
	}
	j.last.col += utf8.RuneCount(passed)
	return j.last
}

// next returns the place of the next token.
func (j *jsonReader) next() spot {
	offset := int(j.dec.InputOffset())
	for offset < len(j.data) && strings.IndexByte(" \t\r\n,:", j.data[offset]) >= 0 {
		offset++
	}
	return j.at(offset)
}

func (j *jsonReader) read(depth int) (node, error) {
	n := node{at: j.next()}
	if depth > maxDepth {
		j.report.add(n.at, "", "nested too deep")
		return n, j.skip()
	}
	tok, err := j.dec.Token()
	if err != nil {
		return n, err
	}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '[' {
			return j.list(n, depth)
		}
		return j.object(n, depth)
	case string:
		n.kind, n.text = kindString, tok
	case json.Number:
		n.kind, n.text = kindFloat, tok.String()
		if !strings.ContainsAny(n.text, ".eE") {
			n.kind = kindInt
		}
	case bool:
		n.kind, n.text = kindBool, "false"
		if tok {
			n.text = "true"
		}
	default:
		n.kind = kindNull
	}
	return n, nil
}

// skip passes over a value.
func (j *jsonReader) skip() error {
	for open := 0; ; {
		tok, err := j.dec.Token()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('['), json.Delim('{'):
			open++
		case json.Delim(']'), json.Delim('}'):
			open--
		}
		if open == 0 {
			return nil
		}
	}
}

func (j *jsonReader) list(n node, depth int) (node, error) {
	n.kind = kindList
	for j.dec.More() {
		if _, err := j.read(depth + 1); err != nil {
			return n, err
		}
	}
	_, err := j.dec.Token()
	return n, err
}

func (j *jsonReader) object(n node, depth int) (node, error) {
	n.kind = kindMap
	for j.dec.More() {
		key, err := j.read(0) // a string
		if err != nil {
			return n, err
		}
		value, err := j.read(depth + 1)
		if err != nil {
			return n, err
		}
		n.fields = append(n.fields, field{key: key.text, at: key.at, value: value})
	}
	_, err := j.dec.Token()
	return n, err
}
