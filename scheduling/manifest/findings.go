package manifest

import (
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/documents"
)

// findings are the faults and warnings of an input.
type findings struct {
	skipInvalid bool // as in [Loader]

	faults   Faults
	skipped  Faults // with skipInvalid, one for each thing left out
	warnings []scheduling.Warning
}

// warn adds a warning about an object.
func (f *findings) warn(object, message string) {
	f.warnings = append(f.warnings, scheduling.Warning{Object: object, Message: message})
}

// note adds a note about an object: what was assumed about it.
func (f *findings) note(object, message string) {
	f.warnings = append(f.warnings, scheduling.Warning{Object: object, Message: message, Note: true})
}

// enough reports whether so many faults were found that reading stops.
func (f *findings) enough() bool { return len(f.faults) > maxFaults }

// fault adds a fault, unless skipInvalid allows to leave the object out. The last fault within the
// limit says that there may be more.
func (f *findings) fault(found *Fault) {
	switch {
	case f.skipInvalid && found.Kind != Unreadable:
		if found.Kind == Invalid && isPlaceholder(found.Value) {
			found.Kind = Template
		}
		f.skipped = append(f.skipped, found)
	case len(f.faults) < maxFaults:
		f.faults = append(f.faults, found)
	case len(f.faults) == maxFaults:
		f.faults = append(f.faults, &Fault{
			At:      Location{Source: found.At.Source, Item: -1},
			Message: fmt.Sprintf("reading stopped after %d faults", maxFaults),
		})
	}
}

// refuse reports the faults of an object. An object that is left out has one fault.
func (f *findings) refuse(o rawObject, object string, faults []fieldFault) {
	for _, ff := range faults {
		f.fault(&Fault{At: o.at, Object: object, Field: ff.field, Value: ff.value, Message: ff.msg, cause: ff.cause})
		if f.skipInvalid {
			return
		}
	}
}

// leaveOut leaves out a file that is no manifest. It warns, unless the caller wants a list of the
// files that were left out.
func (f *findings) leaveOut(name string, reason FaultKind, message string) {
	if f.skipInvalid {
		f.fault(&Fault{At: Location{Source: name, Item: -1}, Message: message, Kind: reason})
		return
	}
	f.warn(name, message)
}

// isPlaceholder says whether a value that makes no sense stands for one that is still to
// be filled in.
func isPlaceholder(value string) bool {
	return documents.IsTemplate(value) || strings.ContainsAny(value, "<>") || strings.Contains(value, "${") || strings.Contains(value, "$(")
}
