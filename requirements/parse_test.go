package requirements

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Parse reads the text form of a requirement, with the operators > < Gt Gte Lt Lte besides.
func Parse(s string) (Requirement, error) {
	p := parser{text: s}
	r, err := p.requirement()
	if err != nil {
		return Requirement{}, err
	}
	if p.skip(); p.pos < len(p.text) {
		return Requirement{}, p.errorf("unexpected %q", p.text[p.pos:])
	}
	return r, nil
}

// ParseSet reads the text form of a set: requirements separated by commas, in
// any order. Two of the same key intersect. Blank text is the empty set.
func ParseSet(s string) (Set, error) {
	p := parser{text: s}
	if p.skip(); p.pos == len(p.text) {
		return Set{}, nil
	}
	var reqs []Requirement
	for {
		r, err := p.requirement()
		if err != nil {
			return Set{}, err
		}
		reqs = append(reqs, r)
		p.skip()
		if p.pos == len(p.text) {
			return NewSet(reqs...), nil
		}
		if !p.accept(",") {
			return Set{}, p.errorf("want a comma or the end, got %q", p.text[p.pos:])
		}
	}
}

// parser is a position in a text.
type parser struct {
	text string
	pos  int
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("requirement text %q, offset %d: %w", p.text, p.pos, fmt.Errorf(format, args...))
}

func (p *parser) skip() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// accept steps over token, after white space, if it comes next.
func (p *parser) accept(token string) bool {
	p.skip()
	if strings.HasPrefix(p.text[p.pos:], token) {
		p.pos += len(token)
		return true
	}
	return false
}

// word reads a plain or quoted word; ok is false, and nothing is read, when
// something else comes next.
func (p *parser) word() (word string, ok bool, err error) {
	p.skip()
	rest := p.text[p.pos:]
	if strings.HasPrefix(rest, `"`) {
		quoted, err := strconv.QuotedPrefix(rest)
		if err == nil {
			word, err = strconv.Unquote(quoted)
		}
		if err != nil {
			return "", false, p.errorf("unfinished or malformed quoted word")
		}
		p.pos += len(quoted)
		return word, true, nil
	}
	n := 0
	for n < len(rest) && plainChar(rest[n]) {
		n++
	}
	p.pos += n
	return rest[:n], n > 0, nil
}

// requirement reads a key, at least one clause, and perhaps a floor.
func (p *parser) requirement() (Requirement, error) {
	key, ok, err := p.word()
	if err != nil {
		return Requirement{}, err
	}
	if !ok {
		return Requirement{}, p.errorf("want a label key")
	}
	out := Requirement{key: NormalizeKey(key)}
	for n := 0; ; n++ {
		r, ok, err := p.clause(key)
		if err != nil {
			return Requirement{}, err
		}
		if !ok {
			if n == 0 {
				return Requirement{}, p.errorf("want an operator after key %q", key)
			}
			return out, nil
		}
		out = out.Intersect(r)
	}
}

// clause reads one operator with its operand.
func (p *parser) clause(key string) (r Requirement, ok bool, err error) {
	if op, ok := p.symbol(); ok {
		r, err := p.bound(key, op)
		return r, err == nil, err
	}
	p.skip()
	start := p.pos
	n := 0
	for start+n < len(p.text) && plainChar(p.text[start+n]) {
		n++
	}
	name := p.text[start : start+n]
	if name == "" {
		return Requirement{}, false, nil
	}
	p.pos += n
	switch op := Operator(name); op {
	case In, NotIn:
		values, err := p.list()
		return build(key, op, values), err == nil, err
	case Exists, DoesNotExist:
		return build(key, op, nil), true, nil
	case Gt, Lt, Gte, Lte:
		r, err := p.bound(key, op)
		return r, err == nil, err
	case "minValues":
		n, err := p.integer()
		if err == nil && (n < 1 || n > math.MaxInt) {
			err = p.errorf("minValues must be positive, not %d", n)
		}
		return Requirement{minValues: int(n)}, err == nil, err
	}
	p.pos = start
	return Requirement{}, false, p.errorf("unknown operator %q", name)
}

func (p *parser) symbol() (Operator, bool) {
	switch {
	case p.accept(">="):
		return Gte, true
	case p.accept("<="):
		return Lte, true
	case p.accept(">"):
		return Gt, true
	case p.accept("<"):
		return Lt, true
	}
	return "", false
}

func (p *parser) bound(key string, op Operator) (Requirement, error) {
	n, err := p.integer()
	if err != nil {
		return Requirement{}, err
	}
	return bounded(NormalizeKey(key), op, n), nil
}

func (p *parser) integer() (int64, error) {
	word, _, err := p.word()
	if err != nil {
		return 0, err
	}
	n, ok := parseInt(word)
	if !ok {
		return 0, p.errorf("want an integer of 64 bits, got %q", word)
	}
	return n, nil
}

// list reads words in brackets.
func (p *parser) list() ([]string, error) {
	if !p.accept("[") {
		return nil, p.errorf("want a list of values in brackets")
	}
	var values []string
	for !p.accept("]") {
		word, ok, err := p.word()
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, p.errorf("want a value or a closing bracket")
		}
		values = append(values, word)
	}
	return values, nil
}
