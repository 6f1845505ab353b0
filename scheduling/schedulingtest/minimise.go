package schedulingtest

import (
	"reflect"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Minimise makes a problem smaller for as long as it fails, so that people can read it: it removes entries of the
// problem's lists, instance types and offerings, and fields of each object, one after the other. The result fails, and
// no longer fails without any one of its remaining parts. The given problem is not changed.
func Minimise(p scheduling.Problem, fails func(scheduling.Problem) bool) scheduling.Problem {
	for smaller := true; smaller; {
		smaller = false
		v := shrink(reflect.ValueOf(p), func(q reflect.Value) bool {
			ok := fails(q.Interface().(scheduling.Problem))
			smaller = smaller || ok
			return ok
		})
		p = v.Interface().(scheduling.Problem)
	}
	return p
}

// shrink returns a copy of a value without the parts whose removal try allows.
func shrink(v reflect.Value, try func(reflect.Value) bool) reflect.Value {
	// set tries v with a part of it replaced.
	set := func(change func(copied reflect.Value)) bool {
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		change(copied)
		if !try(copied) {
			return false
		}
		v = copied
		return true
	}
	switch old := v.Interface().(type) {
	case *instancetypes.Catalog:
		if old != nil {
			size := len(inJSON(scheduling.Problem{Catalog: old}))
			shrink(reflect.ValueOf(slices.Collect(old.All())), func(types reflect.Value) bool {
				c, err := instancetypes.NewCatalog(types.Interface().([]*instancetypes.InstanceType)...)
				// A catalog restores the required fields of its types.
				smaller := err == nil && len(inJSON(scheduling.Problem{Catalog: c})) < size &&
					set(func(copied reflect.Value) { copied.Set(reflect.ValueOf(c)) })
				if smaller {
					size = len(inJSON(scheduling.Problem{Catalog: c}))
				}
				return smaller
			})
		}
		return v
	case *offerings.Unavailable:
		return v
	}
	switch v.Kind() {
	case reflect.Slice:
		v = dropEach(v, try)
		for i := range v.Len() {
			shrink(v.Index(i), func(e reflect.Value) bool {
				return set(func(copied reflect.Value) {
					copied.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
					copied.Index(i).Set(e)
				})
			})
		}
	case reflect.Pointer:
		if !v.IsNil() {
			shrink(v.Elem(), func(e reflect.Value) bool {
				return set(func(copied reflect.Value) {
					copied.Set(reflect.New(e.Type()))
					copied.Elem().Set(e)
				})
			})
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			tryField := func(f reflect.Value) bool {
				// A pod has a container at least.
				return (v.Type().Field(i).Name != "Containers" || f.Len() > 0) &&
					set(func(copied reflect.Value) { copied.Field(i).Set(f) })
			}
			if f := v.Field(i); !droppable(f) || !tryField(reflect.Zero(f.Type())) {
				shrink(f, tryField)
			}
		}
	}
	return v
}

// droppable reports whether the value is something that can be left out.
func droppable(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() > 0
	case reflect.Pointer:
		return !v.IsNil()
	}
	return false
}

// dropEach drops every entry of a list that can be dropped and returns the rest. Halves are tried
// first, because most of a large problem is irrelevant to the failure.
func dropEach(list reflect.Value, try func(reflect.Value) bool) reflect.Value {
	for size := max(list.Len()/2, 1); size > 0; size /= 2 {
		for i := 0; i < list.Len(); {
			rest := reflect.AppendSlice(reflect.MakeSlice(list.Type(), 0, list.Len()), list.Slice(0, i))
			rest = reflect.AppendSlice(rest, list.Slice(min(i+size, list.Len()), list.Len()))
			if try(rest) {
				list = rest
			} else {
				i += size
			}
		}
	}
	return list
}
