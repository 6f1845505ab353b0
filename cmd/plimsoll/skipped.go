package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// mostSkipped is how many names are told of what was left out for one reason.
const mostSkipped = 5

// saySkipped lists what --skip-invalid has left out, by reason.
func (a *app) saySkipped() {
	if len(a.skipped) == 0 {
		return
	}
	a.say("left out by --skip-invalid:")
	a.sayGroup(manifest.Kustomize, "file", "of kustomize; pass what kubectl kustomize prints", source)
	a.sayGroup(manifest.Template, "file", "with templates that are not rendered; pass what helm template prints", source)
	a.sayGroup(manifest.NoObject, "file", "with something else than objects", source)
	a.sayGroup(manifest.NotText, "file", "without text in UTF-8", source)
	a.sayGroup(manifest.BadSyntax, "document", "in neither YAML nor JSON", (*manifest.Fault).Error)
	a.sayGroup(manifest.UnknownKind, "unknown kind", "that may stand for pods", kindOf)
	a.sayGroup(manifest.Duplicate, "duplicate", "of what was read before, in the order of names", twin)
	a.sayGroup(manifest.Invalid, "object", "with faults", (*manifest.Fault).Error)
}

// sayGroup lists what was left out for one reason. What goes by the same name counts once.
func (a *app) sayGroup(reason manifest.Reason, thing, which string, name func(*manifest.Fault) string) {
	var names []string
	counts := map[string]int{}
	for _, f := range a.skipped {
		if f.Reason != reason {
			continue
		}
		n := name(f)
		if counts[n]++; counts[n] == 1 {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	a.say("  %s %s:", figures.Count(len(names), thing), which)
	for _, n := range names[:min(len(names), mostSkipped)] {
		times := ""
		if counts[n] > 1 {
			times = fmt.Sprintf(" (%d times)", counts[n])
		}
		a.say("    %s%s", n, times)
	}
	if more := len(names) - mostSkipped; more > 0 {
		a.say("    and %d more", more)
	}
}

// source names what was left out by its file.
func source(f *manifest.Fault) string { return f.At.Source }

// kindOf names what was left out by its kind: "Kafka of kafka.strimzi.io/v1beta2".
func kindOf(f *manifest.Fault) string {
	kind, _, _ := strings.Cut(f.Object, " ")
	of := strings.Fields(f.Message)
	return strings.Join(append([]string{kind}, of[:min(len(of), 2)]...), " ")
}

// twin names a duplicate and what it is one of.
func twin(f *manifest.Fault) string { return fmt.Sprintf("%v: %s %s", f.At, f.Object, f.Message) }
