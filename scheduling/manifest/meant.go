package manifest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

// strayField is a field that a type does not have.
type strayField struct {
	path string
	// meant is the name of the field that was probably meant; empty where none is near.
	meant string
}

// didYouMean asks about a slip, and is empty where no name is near.
func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", name)
}

// nearest returns the name that a mistyped one was probably meant to be: it differs in
// case only, or in few letters.
func nearest(typed string, names []string) string {
	lower := strings.ToLower(typed)
	near := spelling.Closest(names, 1, func(name string) (int, bool) {
		d := spelling.Distance(lower, strings.ToLower(name))
		return d, d <= 1+len(typed)/5 && d < len(typed)
	})
	if len(near) == 0 {
		return ""
	}
	return near[0]
}

// jsonNames returns the JSON names of a struct's fields.
func jsonNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag != "" && tag != "-":
			names = append(names, tag)
		case f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct:
			names = append(names, jsonNames(f.Type)...)
		}
	}
	return names
}

// resourceHint says why the name of a resource is none that a container can ask for, if
// it is not: names without a domain are Kubernetes's own, and few.
func resourceHint(name corev1.ResourceName) string {
	own := []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourceEphemeralStorage)}
	typed := string(name)
	switch {
	case strings.Contains(typed, "/"), strings.HasPrefix(typed, corev1.ResourceHugePagesPrefix), slices.Contains(own, typed):
		return ""
	case typed == "mem" || typed == "ram":
		return "is no resource of Kubernetes" + didYouMean(own[1])
	case typed == "gpu":
		return "is no resource of Kubernetes" + didYouMean("nvidia.com/gpu")
	}
	if meant := nearest(typed, own); meant != "" {
		return "is no resource of Kubernetes" + didYouMean(meant)
	}
	return "is no resource of Kubernetes; those of device plugins have a domain in their name, as nvidia.com/gpu does"
}
