package scheduling

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// volumeReason says that the volumes of a group keep it away from machines.
func volumeReason(c *constraint) Reason {
	return Reason{Code: ReasonVolume, Detail: "the pod's volumes can be used " + placesText(c)}
}

// fullReason says that a node takes no further volume of a driver.
func fullReason(driver string) Reason {
	return Reason{Code: ReasonAttachLimit, Detail: "no further volumes of " + driver + " can be attached to the node"}
}

// attachReason words a lack of attachments on machines that have enough of all else.
// ok is false where something else is lacking too.
func (e *explainer) attachReason(lacking []int) (r Reason, ok bool) {
	if len(lacking) == 0 || slices.ContainsFunc(lacking, func(d int) bool { return attachDriver(e.table.names[d]) == "" }) {
		return Reason{}, false
	}
	return Reason{Code: ReasonAttachLimit, Detail: "too few further volumes of " + attachDriver(e.table.names[lacking[0]]) + " can be attached"}, true
}

// withoutAttachments drops attachments from resources that are lacking, unless nothing
// else is.
func (e *explainer) withoutAttachments(lacking []int) []int {
	return slices.DeleteFunc(slices.Clone(lacking), func(d int) bool { return attachDriver(e.table.names[d]) != "" })
}

// attachFix says how many volumes would do.
func attachFix(driver string, most, want int64) Change {
	return Change{
		Kind: ChangeVolume, Key: driver, From: strconv.FormatInt(want, 10), To: strconv.FormatInt(most, 10),
		Text: fmt.Sprintf("fits with at most %d volumes of %s (has %d)", most, driver, want),
	}
}

// screenVolumes takes the offers out on whose machines the volumes cannot be used.
func (e *explainer) screenVolumes(v *template, group *constraint, admitted model.Bits) model.Bits {
	within := v.within.Clone()
	e.offers.narrowToVolumes(within, v, group)
	gone := admitted.Clone()
	gone.AndNot(within)
	return gone
}
