package explain

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// volumeReason says that the volumes of a group keep it away from machines.
func volumeReason(c *podspec.Constraint) scheduling.Reason {
	return scheduling.Reason{Code: scheduling.ReasonVolume, Detail: "the pod's volumes can be used " + podspec.PlacesText(c)}
}

// fullReason says that a node takes no further volume of a driver.
func fullReason(driver string) scheduling.Reason {
	return scheduling.Reason{Code: scheduling.ReasonAttachLimit, Detail: "no further volumes of " + driver + " can be attached to the node"}
}

// attachReason words a lack of attachments on machines that have enough of all else.
// ok is false where something else is lacking too.
func (e *Explainer) attachReason(lacking []int) (r scheduling.Reason, ok bool) {
	if len(lacking) == 0 || slices.ContainsFunc(lacking, func(d int) bool { return podspec.AttachDriver(e.Table.Names[d]) == "" }) {
		return scheduling.Reason{}, false
	}
	return scheduling.Reason{Code: scheduling.ReasonAttachLimit, Detail: "too few further volumes of " + podspec.AttachDriver(e.Table.Names[lacking[0]]) + " can be attached"}, true
}

// withoutAttachments drops attachments from resources that are lacking, unless nothing
// else is.
func (e *Explainer) withoutAttachments(lacking []int) []int {
	return slices.DeleteFunc(slices.Clone(lacking), func(d int) bool { return podspec.AttachDriver(e.Table.Names[d]) != "" })
}

// attachFix says how many volumes would do.
func attachFix(driver string, most, want int64) scheduling.Change {
	return scheduling.Change{
		Kind: scheduling.ChangeVolume, Key: driver, From: strconv.FormatInt(want, 10), To: strconv.FormatInt(most, 10),
		Text: fmt.Sprintf("fits with at most %d volumes of %s (has %d)", most, driver, want),
	}
}

// screenVolumes takes the offers out on whose machines the volumes cannot be used.
func (e *Explainer) screenVolumes(v *offers.Template, group *podspec.Constraint, admitted model.Bits) model.Bits {
	within := v.Within.Clone()
	e.Offers.NarrowToVolumes(within, v, group)
	gone := admitted.Clone()
	gone.AndNot(within)
	return gone
}
