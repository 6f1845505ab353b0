package instancetypes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// ReadKWOK reads the JSON array of instance types that Karpenter's KWOK provider reads, and gives
// the types the defaults of that provider: labels karpenter.kwok.sh/instance-size, -family, -cpu
// and -memory beside the standard ones, 110 pods where the file states none, 100m of cpu and 10Mi
// of memory reserved, and every offering available whatever the file says.
//
// Where it differs:
//
//   - A node runs one operating system and one architecture, so an entry with several systems
//     runs linux if that is among them. Of entries that share a name one remains: linux before
//     others, then amd64, then arm64. Entries alike in both are put together; they must agree in
//     resources and prices. The provenance of the catalog counts the entries left out.
//   - Architectures carry the names that kubelets report: x86_64 becomes amd64,
//     aarch64 arm64, i386 386.
//   - An offering must state its zone and capacity type; if it names several of them it stands for
//     every combination.
//
// Unknown fields are ignored, as that provider does. Errors are like those of
// [ReadJSON], with the line in which an entry begins.
func ReadKWOK(r io.Reader) (*Catalog, error) {
	k := &kwokReader{in: newInput(r, true), byName: map[string]*kwokType{}}
	k.readEntries()
	b := newCatalogBuilder(&k.fs)
	for _, t := range k.types {
		b.add(&t.InstanceType, t.at.of, t.explained)
	}
	c, err := b.catalog()
	if err != nil {
		return nil, fmt.Errorf("reading KWOK instance types: %w", err)
	}
	c.provenance = k.fromWhere()
	return c, nil
}

// kwokReader gathers the types of a file.
type kwokReader struct {
	in      *input
	fs      faults
	types   []*kwokType
	byName  map[string]*kwokType
	leftOut map[string]int // entries that another of the same name displaced, by system and architecture
}

// kwokType is the entry, or the entries, that a name stands for so far.
type kwokType struct {
	InstanceType
	os, arch  string
	at        places
	explained []string
}

func (k *kwokReader) readEntries() {
	dec := json.NewDecoder(k.in)
	tok, err := dec.Token()
	switch {
	case err != nil:
		k.fs.add(readFault(k.in.at(dec.InputOffset()), "", err))
		return
	case tok != json.Delim('['):
		k.fs.add(&CatalogFault{Line: 1, Column: 1, Problem: fmt.Sprintf("must be an array of instance types, not %s", kind(tok))})
		return
	}
	for dec.More() {
		if k.fs.enough() {
			return
		}
		k.in.begin(dec.InputOffset())
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			k.fs.add(readFault(k.in.at(dec.InputOffset()), "", err))
			return
		}
		k.readEntry(raw, dec.InputOffset()-int64(len(raw)))
	}
	if _, err := dec.Token(); err != nil {
		k.fs.add(readFault(k.in.at(dec.InputOffset()), "", err))
		return
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		k.fs.add(&CatalogFault{Line: k.in.line, Column: 1, Problem: "something follows the end of the array"})
	}
}

// readEntry reads one element of the array, which begins at offset start.
func (k *kwokReader) readEntry(raw json.RawMessage, start int64) {
	at := k.in.at(start)
	var entry kwokEntry
	err := json.Unmarshal(raw, &entry)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		k.add(entry, at)
	case errors.As(err, &wrong):
		place := k.in.at(start + wrong.Offset)
		k.fs.add(&CatalogFault{
			Line: place.line, Column: place.column, Type: entry.Name, Field: wrong.Field, Err: err,
			Problem: "must not be " + wrong.Value,
		})
	default:
		k.fs.add(readFault(at, entry.Name, err))
	}
}

// add turns an entry into a type and puts it in its place.
func (k *kwokReader) add(entry kwokEntry, at position) {
	report := func(field, value, problem string) {
		k.fs.add(&CatalogFault{Line: at.line, Column: at.column, Type: entry.Name, Field: field, Value: value, Problem: problem})
	}
	t := &kwokType{os: entry.os(), arch: entry.arch(), at: places{"": at}}
	t.Name = entry.Name
	known := len(k.fs.list)
	t.Capacity = entry.holds(report)
	t.Overhead.KubeReserved = corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(100, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(10*mib, resource.BinarySI),
	}
	t.Labels = entry.nodeLabels(t.os, t.arch, t.Capacity)
	for i, o := range entry.Offerings {
		t.Offerings = append(t.Offerings, o.onSale(fmt.Sprintf("offerings[%d]", i), report)...)
	}
	for _, f := range k.fs.list[known:] {
		t.explained = append(t.explained, f.Field)
	}
	if len(t.explained) > 0 {
		// An offering may have become several or none: indices do not match.
		t.explained = append(t.explained, "offerings")
	}
	k.choose(t, report)
}

// choose decides between entries of one name.
func (k *kwokReader) choose(t *kwokType, report func(field, value, problem string)) {
	present, ok := k.byName[t.Name]
	if !ok || t.Name == "" {
		k.byName[t.Name] = t
		k.types = append(k.types, t)
		return
	}
	switch slices.Compare(t.rank(), present.rank()) {
	case -1:
		k.leaveOut(present)
		*present = *t
	case 1:
		k.leaveOut(t)
	default:
		present.join(t, report)
	}
}

func (k *kwokReader) leaveOut(t *kwokType) {
	if k.leftOut == nil {
		k.leftOut = map[string]int{}
	}
	k.leftOut[t.os+"/"+t.arch]++
}

// rank orders entries of one name, the one to keep first.
func (t *kwokType) rank() []string {
	preferred := func(value string, order ...string) string {
		if i := slices.Index(order, value); i >= 0 {
			return fmt.Sprint(i)
		}
		return "~" + value // after the digits
	}
	return []string{preferred(t.os, "linux"), preferred(t.arch, "amd64", "arm64")}
}

// join adds the offerings of an entry for the same machine.
func (t *kwokType) join(other *kwokType, report func(field, value, problem string)) {
	if !sameResources(t.Capacity, other.Capacity) {
		report("resources", "", fmt.Sprintf("differ from those of the entry of the same name in line %d", t.at[""].line))
		return
	}
	for _, o := range other.Offerings {
		i := slices.IndexFunc(t.Offerings, func(p offerings.Offering) bool { return p.Key("") == o.Key("") })
		switch {
		case i < 0:
			t.Offerings = append(t.Offerings, o)
		case t.Offerings[i].Price != o.Price:
			report("offerings", o.Key("").String(), fmt.Sprintf("costs %v here and %v in the entry of the same name in line %d",
				o.Price, t.Offerings[i].Price, t.at[""].line))
		}
	}
}

func sameResources(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, q := range a {
		if p, ok := b[name]; !ok || q.Cmp(p) != 0 {
			return false
		}
	}
	return true
}

func (k *kwokReader) fromWhere() []Provenance {
	p := Provenance{Source: "instance types of Karpenter's KWOK provider", Estimated: []string{"overhead"}}
	var notes []string
	for platform, n := range k.leftOut {
		notes = append(notes, fmt.Sprintf("%d %s", n, platform))
	}
	if len(notes) > 0 {
		slices.Sort(notes)
		p.Covers = "all figures but the overhead; entries left out in favour of others of the same name: " + strings.Join(notes, ", ")
	}
	return []Provenance{p}
}
