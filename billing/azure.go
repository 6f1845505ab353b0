package billing

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"
)

// azureReservation reads a reservation of az reservations reservation list.
func (r *reading) azureReservation(raw []byte, i int) {
	var x struct {
		Name     string `json:"name"`
		ID       string `json:"id"`
		Location string `json:"location"`
		SKU      struct {
			Name string `json:"name"`
		} `json:"sku"`
		Properties struct {
			Type        string `json:"reservedResourceType"`
			State       string `json:"provisioningState"`
			Quantity    int64  `json:"quantity"`
			Flexibility string `json:"instanceFlexibility"`
			Expiry      string `json:"expiryDate"`
			ExpiryTime  string `json:"expiryDateTime"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		r.fault("[%d]: %w", i, err)
		return
	}
	p := &x.Properties
	name := path.Base(cmp.Or(x.ID, x.Name))
	switch {
	case p.Type != "VirtualMachines":
		r.skip("reservations of " + p.Type)
		return
	case p.State != "" && p.State != "Succeeded":
		r.skip("reservations that are " + strings.ToLower(p.State))
		return
	case p.Quantity < 1 || p.Quantity > int64(MaxUnits/nano):
		r.fault("reservation %s: quantity: %d: must be from 1 to %v", name, p.Quantity, MaxUnits)
		return
	}
	r.add(Commitment{
		ID: name, Kind: ReservedInstances, Amount: Units(p.Quantity) * nano, InstanceType: x.SKU.Name, Region: x.Location,
		SizeFlexible: p.Flexibility == "On", Ends: day(cmp.Or(p.ExpiryTime, p.Expiry)),
	})
}
