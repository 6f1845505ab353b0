package skipped

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// mostSkipped is the largest number of names that are listed for one reason.
const mostSkipped = 5

// Lines list the documents and objects that --skip-invalid has left out, by reason.
func Lines(faults manifest.Faults) []string {
	if len(faults) == 0 {
		return nil
	}
	l := &list{faults, []string{"left out by --skip-invalid:"}}
	l.group(manifest.Kustomize, "file", "of kustomize; pass the output of kubectl kustomize", source)
	l.group(manifest.Template, "file", "with unrendered templates; pass the output of helm template", source)
	l.group(manifest.NoObject, "file", "with content other than objects", source)
	l.group(manifest.NotText, "file", "not in UTF-8", source)
	l.group(manifest.BadSyntax, "document", "in neither YAML nor JSON", (*manifest.Fault).Error)
	l.group(manifest.UnknownKind, "unknown kind", "that may create pods", kindOf)
	l.group(manifest.Duplicate, "duplicate", "of objects read before, by file name", twin)
	l.group(manifest.Invalid, "object", "with faults", (*manifest.Fault).Error)
	return l.lines
}

// list is the faults that are skipped, and the lines about them.
type list struct {
	faults manifest.Faults
	lines  []string
}

// say adds a line.
func (l *list) say(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// group lists the faults of one reason. Faults of the same name are listed once, with their number.
func (l *list) group(reason manifest.FaultKind, thing, which string, name func(*manifest.Fault) string) {
	var names []string
	counts := map[string]int{}
	for _, f := range l.faults {
		if f.Kind != reason {
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
	l.say("  %s %s:", figures.Count(len(names), thing), which)
	for _, n := range names[:min(len(names), mostSkipped)] {
		times := ""
		if counts[n] > 1 {
			times = fmt.Sprintf(" (%d times)", counts[n])
		}
		l.say("    %s%s", n, times)
	}
	if more := len(names) - mostSkipped; more > 0 {
		l.say("    and %d more", more)
	}
}

// source is the file of a fault.
func source(f *manifest.Fault) string { return f.At.Source }

// kindOf is the kind of the object of a fault, e.g. "Kafka of kafka.strimzi.io/v1beta2".
func kindOf(f *manifest.Fault) string {
	kind, _, _ := strings.Cut(f.Object, " ")
	of := strings.Fields(f.Message)
	return strings.Join(append([]string{kind}, of[:min(len(of), 2)]...), " ")
}

// twin names a duplicate, with its position and the object that was read first.
func twin(f *manifest.Fault) string { return fmt.Sprintf("%v: %s %s", f.At, f.Object, f.Message) }
