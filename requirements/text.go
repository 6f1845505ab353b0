package requirements

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// shortValues is how many values the short form shows.
const shortValues = 5

// String returns the complete text form; the package comment has the grammar.
func (r Requirement) String() string {
	var b strings.Builder
	r.write(&b, len(r.values))
	return b.String()
}

// Short returns the text form for people: at most five values, then how many
// more there are, and bounds as Gt and Lt.
func (r Requirement) Short() string {
	var b strings.Builder
	writeWord(&b, r.key)
	b.WriteString(" " + r.clauses())
	return strings.TrimSuffix(b.String(), " ")
}

// clauses returns the short form without the key.
func (r Requirement) clauses() string {
	var b strings.Builder
	bounded := r.hasLower() || r.hasUpper()
	r.writeSets(&b, min(len(r.values), shortValues), bounded)
	switch {
	case r.hasLower() && r.lower > 0:
		b.WriteString(" Gt " + strconv.FormatInt(r.lower-1, 10))
	case r.hasLower():
		b.WriteString(" Gte " + strconv.FormatInt(r.lower, 10))
	}
	switch {
	case r.hasUpper() && r.upper < math.MaxInt64:
		b.WriteString(" Lt " + strconv.FormatInt(r.upper+1, 10))
	case r.hasUpper():
		b.WriteString(" Lte " + strconv.FormatInt(r.upper, 10))
	}
	r.writeFloor(&b)
	return strings.TrimPrefix(b.String(), " ")
}

func (r *Requirement) write(b *strings.Builder, show int) {
	writeWord(b, r.key)
	r.writeClauses(b, show)
}

// writeSets writes the clauses other than bounds, each with a space before it. Bounds that follow
// imply that the label is there.
func (r *Requirement) writeSets(b *strings.Builder, show int, bounded bool) {
	excludes := !r.listed && len(r.values) > 0
	switch {
	case r.listed && !r.present:
		b.WriteString(" DoesNotExist")
	case r.listed:
		r.writeValues(b, In, show)
	case r.present && !bounded && (!r.numeric || !excludes):
		b.WriteString(" Exists")
	}
	if excludes || !r.listed && !r.present {
		r.writeValues(b, NotIn, show)
	}
}

// writeClauses writes each clause with a space before it.
func (r *Requirement) writeClauses(b *strings.Builder, show int) {
	r.writeSets(b, show, false)
	if r.hasLower() {
		b.WriteString(" >=" + strconv.FormatInt(r.lower, 10))
	}
	if r.hasUpper() {
		b.WriteString(" <=" + strconv.FormatInt(r.upper, 10))
	}
	r.writeFloor(b)
}

// writeFloor writes minValues.
func (r *Requirement) writeFloor(b *strings.Builder) {
	if r.minValues > 0 {
		b.WriteString(" minValues " + strconv.Itoa(r.minValues))
	}
}

func (r *Requirement) writeValues(b *strings.Builder, op Operator, show int) {
	b.WriteString(" " + string(op) + " [")
	for i, v := range r.values[:show] {
		if i > 0 {
			b.WriteByte(' ')
		}
		writeWord(b, v)
	}
	if more := len(r.values) - show; more > 0 {
		fmt.Fprintf(b, " and %d more", more)
	}
	b.WriteByte(']')
}

// writeWord writes s, quoted unless it consists of plain characters.
func writeWord(b *strings.Builder, s string) {
	for i := range len(s) {
		if !plainChar(s[i]) {
			b.WriteString(strconv.Quote(s))
			return
		}
	}
	if s == "" {
		b.WriteString(`""`)
		return
	}
	b.WriteString(s)
}

// plainChar reports whether c needs no quotes: the characters of label keys and values.
func plainChar(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-_./", c) >= 0
}

// String returns the complete text form: the requirements in the order of their keys, joined
// by ", ".
func (s Set) String() string {
	var b strings.Builder
	for i := range s.reqs {
		if i > 0 {
			b.WriteString(", ")
		}
		s.reqs[i].write(&b, len(s.reqs[i].values))
	}
	return b.String()
}
