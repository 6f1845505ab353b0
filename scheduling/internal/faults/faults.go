package faults

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Collector collects field errors of one object after another. Paths are built only for faults,
// because most objects have none.
type Collector struct {
	List []*scheduling.FieldError
	// Object returns the path of the current object, e.g. "pods[shop/web-3]".
	Object func() string
}

// Add notes a fault of the field at a path within the current object.
func (f *Collector) Add(value, message, path string) {
	if f.Object != nil {
		path = strict.Below(f.Object(), path)
	}
	f.List = append(f.List, &scheduling.FieldError{Path: path, Value: value, Message: message})
}

// Once notes a fault of the object at a path if an earlier entry of its list has the same name. first has, by name, the index of
// the first entry; i is the index of this one.
func (f *Collector) Once(first map[string]int, name string, i int, path string) {
	if j, again := first[name]; again {
		f.Add("", "is there twice, as entries "+strconv.Itoa(j)+" and "+strconv.Itoa(i), path)
		return
	}
	first[name] = i
}

// Err returns the collected faults, sorted, each fault once; nil if there are none.
func (f *Collector) Err() error {
	f.List = slices.DeleteFunc(f.List, func(e *scheduling.FieldError) bool { return e == nil })
	if len(f.List) == 0 {
		return nil
	}
	order := func(a, b *scheduling.FieldError) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message), strings.Compare(a.Value, b.Value))
	}
	slices.SortFunc(f.List, order)
	f.List = slices.CompactFunc(f.List, func(a, b *scheduling.FieldError) bool { return order(a, b) == 0 })
	return &scheduling.FieldErrors{Errors: f.List}
}

// Unjoin returns the errors that errors.Join put together.
func Unjoin(err error) []error {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}
