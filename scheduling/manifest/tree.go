package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
)

// maxDepth bounds how deep an object may be nested. Those of Kubernetes reach 20.
const maxDepth = 100

// errTooDeep is the error of an object that is nested deeper.
var errTooDeep = errors.New("is nested deeper than 100 levels, as no Kubernetes object is")

// parseTree reads an object's JSON into maps and slices, with numbers as they are
// written. It also returns the places of keys that an object has twice.
func parseTree(raw []byte) (tree any, twice []path, err error) {
	p := treeParser{dec: json.NewDecoder(bytes.NewReader(raw))}
	p.dec.UseNumber()
	tree, err = p.value(nil)
	return tree, p.twice, err
}

// treeParser reads a tree token by token.
type treeParser struct {
	dec   *json.Decoder
	twice []path
}

// value reads the value at a place.
func (p *treeParser) value(at path) (any, error) {
	tok, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	if len(at) > maxDepth {
		return nil, errTooDeep
	}
	switch tok {
	case json.Delim('{'):
		return p.object(at)
	case json.Delim('['):
		return p.list(at)
	}
	return tok, nil
}

// object reads an object after its opening brace.
func (p *treeParser) object(at path) (any, error) {
	m := map[string]any{}
	for p.dec.More() {
		tok, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := tok.(string) // the decoder takes nothing else for a key
		below := at.key(name)
		if _, there := m[name]; there {
			p.twice = append(p.twice, below)
		}
		if m[name], err = p.value(below); err != nil {
			return nil, err
		}
	}
	_, err := p.dec.Token()
	return m, err
}

// list reads a list after its opening bracket.
func (p *treeParser) list(at path) (any, error) {
	l := []any{}
	for p.dec.More() {
		v, err := p.value(at.at(len(l)))
		if err != nil {
			return nil, err
		}
		l = append(l, v)
	}
	_, err := p.dec.Token()
	return l, err
}

// written returns a value of a tree as it stands in the input, shortened.
func written(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return shorten(string(raw))
}
