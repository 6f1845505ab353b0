package strict

import (
	"strconv"
	"strings"
)

// Below returns the path of a value by the path of an object that holds it and the path in that
// object, e.g. spec.template and metadata.name. Either may be empty.
func Below(at, path string) string {
	if at == "" || path == "" || path[0] == '[' {
		return at + path
	}
	return at + "." + path
}

// Member returns the path of a field, or of an entry of a map. An empty name, and names that hold a dot, a
// slash, a bracket or a space, are in brackets, as in limits[nvidia.com/gpu].
func Member(at, name string) string {
	if name == "" || strings.ContainsAny(name, "./[] ") {
		return at + "[" + name + "]"
	}
	return Below(at, name)
}

// Element returns the path of an element of a list, e.g. containers[0].
func Element(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }
