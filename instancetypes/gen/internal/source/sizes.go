package source

import "path/filepath"

// Size is an Azure virtual machine size.
type Size struct {
	// Key is the name in small letters without separators, such as "d8asv5".
	Key string `json:"instance_type"`
	// Name is the name as Azure writes it, such as "Standard D8as v5". Some lack
	// "Standard".
	Name      string  `json:"pretty_name_azure"`
	VCPU      int64   `json:"vcpu"`
	MemoryGiB float64 `json:"memory"`
	// GPU describes the GPUs in free form: "4X V100", "1/6 V710", "0".
	GPU string `json:"GPU"`
	// Arch is x64 or Arm64, of about half of the sizes.
	Arch []string `json:"arch"`
	// PremiumIO and AcceleratedNetworking are known of the sizes that have Arch.
	PremiumIO             *bool                         `json:"premium_io"`
	AcceleratedNetworking *bool                         `json:"accelerated_networking"`
	Pricing               map[string]AzureRegionalPrice `json:"pricing"`
}

// AzureRegionalPrice holds what a region asks for a size, by operating system.
type AzureRegionalPrice struct {
	Linux *struct {
		OnDemand Decimal `json:"ondemand"`
		Spot     Decimal `json:"spot_min"`
	} `json:"linux"`
}

// Decimal is the text of a JSON number; empty if there is none.
type Decimal string

// UnmarshalJSON keeps a number as it is written.
func (d *Decimal) UnmarshalJSON(data []byte) error {
	if string(data) != "null" {
		*d = Decimal(data)
	}
	return nil
}

// ReadSizes reads the file of Azure sizes.
func ReadSizes(moduleDir string) ([]Size, error) {
	return readList[Size](filepath.Join(moduleDir, "data", "azure-instances.json"))
}
