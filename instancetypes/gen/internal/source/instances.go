package source

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Instance is an EC2 instance type as the file of instances describes it.
type Instance struct {
	Name      string  `json:"instance_type"`
	VCPU      int64   `json:"vCPU"`
	MemoryGiB float64 `json:"memory"`
	// Arch lists x86_64, arm64, i386, and forms of them for macOS.
	Arch      []string `json:"arch"`
	Processor string   `json:"physical_processor"`
	// GPUs counts accelerators of any kind; some types are wrong.
	GPUs         int64   `json:"GPU"`
	GPUModel     string  `json:"GPU_model"`
	GPUMemoryGiB float64 `json:"GPU_memory"` // of all GPUs together
	Storage      *struct {
		Devices int64 `json:"devices"`
		SizeGB  int64 `json:"size"` // of each
		NVMe    bool  `json:"nvme_ssd"`
	} `json:"storage"`
	EBSMbps int64 `json:"ebs_max_bandwidth"`
	VPC     *struct {
		Interfaces int64 `json:"max_enis"`
		Addresses  int64 `json:"ips_per_eni"`
	} `json:"vpc"`
	// Zones lists zone ids by region. It is empty for types that EC2 did not describe
	// to the makers of the file.
	Zones   map[string][]string       `json:"availability_zones"`
	Pricing map[string]RegionalPrices `json:"pricing"`
}

// RegionalPrices are the prices of a type in a region, by operating system.
type RegionalPrices struct {
	Linux *LinuxPrices `json:"linux"`
}

// LinuxPrices are prices in USD per hour, as decimals.
type LinuxPrices struct {
	OnDemand string `json:"ondemand"`
	// Spot lists the current prices of the zones, ascending and without saying which
	// zone is which.
	Spot []string `json:"spot"`
	// Band is the interruption band, such as "5-10%".
	Band string `json:"pct_interrupt"`
}

// ReadInstances reads the file of EC2 instance types.
func ReadInstances(moduleDir string) ([]Instance, error) {
	return readList[Instance](filepath.Join(moduleDir, "data", "instances.json"))
}

// readList reads a JSON array one element at a time: the files are large and hold
// much more than is wanted.
func readList[T any](path string) (list []T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	if list, err = decodeList[T](file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

func decodeList[T any](r io.Reader) ([]T, error) {
	dec := json.NewDecoder(r)
	if open, err := dec.Token(); err != nil {
		return nil, err
	} else if open != json.Delim('[') {
		return nil, fmt.Errorf("want a JSON array, found %v", open)
	}
	var list []T
	for dec.More() {
		var element T
		if err := dec.Decode(&element); err != nil {
			return nil, fmt.Errorf("element %d: %w", len(list), err)
		}
		list = append(list, element)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	return list, nil
}

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

// AzureRegionalPrice is the price of a size in a region, by operating system.
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
