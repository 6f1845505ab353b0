// Package instancetypes describes instance types: the capacity of an [InstanceType], the
// labels of its nodes, the resources reserved for the system, and its [offerings.Offering]s. A
// [Catalog] is a validated set of types that never changes. It comes from a [Source] that the
// caller implements, from a file, or from one of the embedded catalogs in the packages below this
// one.
//
// # Allocatable
//
// Pods may request the capacity less kube-reserved, system-reserved and eviction threshold, with
// huge pages taken out of the memory, and never below zero: see [InstanceType.AllocatableOf].
// [KubeReserved], [EvictionThreshold], [VMMemoryOverhead], [ENIPods], [MaxPods] and
// [EphemeralStorage] estimate these figures for EKS nodes, for backends that know only the
// advertised capacity. [Catalog.WithNodeSettings] applies the settings of a node class: kubelet,
// volumes, images.
//
// # Prices
//
// [ReadPrices] reads discounts and prices of one's own, package pricelist the price lists of clouds, and
// [Catalog.WithPrices] lays them over a catalog. [Catalog.Origin] names the source and date of a
// catalog's prices; plans repeat it.
//
// # Catalogs and accounts
//
// A catalog is a list, not the cloud: its zones may have other names than in an account, because
// names of zones differ by account, and it may lack types of running nodes. [Catalog.WithZones]
// gives zones the account's names, by their ids, and [Catalog.WithNodes] adds offerings of running
// nodes.
//
// # JSON format
//
// [ReadJSON] and [Catalog.WriteJSON] use one object. Everything but instanceTypes,
// name, capacity.cpu, capacity.memory, zone, capacityType, price and the reservationID
// of reserved offerings may be left out:
//
//	{
//	  "version": 1,
//	  "provenance": [{"source": "price list", "date": "2026-10-01", "license": "MIT",
//	                  "covers": "on-demand prices", "prices": ["on-demand"],
//	                  "pricesEstimated": [], "estimated": ["overhead"]}],
//	  "instanceTypes": [{
//	    "name": "m7i.large",
//	    "labels": {"kubernetes.io/arch": "amd64", "karpenter.k8s.aws/instance-family": "m7i"},
//	    "capacity": {"cpu": "2", "memory": "7577Mi", "pods": "29", "ephemeral-storage": "20Gi"},
//	    "overhead": {"kubeReserved": {"cpu": "70m", "memory": "574Mi"},
//	                 "systemReserved": {}, "evictionThreshold": {"memory": "100Mi"}},
//	    "offerings": [
//	      {"zone": "us-east-1a", "capacityType": "on-demand", "price": 0.1008},
//	      {"zone": "us-east-1a", "capacityType": "spot", "price": 0.0412, "interruptionRate": 0.05,
//	       "estimated": ["interruptionRate"]},
//	      {"zone": "us-east-1b", "capacityType": "reserved", "price": 0,
//	       "reservationID": "cr-1", "reservationCount": 4, "unavailable": true,
//	       "capacity": {"pods": "58"}, "overhead": {"memory": "700Mi"},
//	       "labels": {"topology.k8s.aws/zone-id": "use1-az2"}}
//	    ]
//	  }]
//	}
//
// Quantities are strings in Kubernetes notation or plain numbers. Prices are JSON numbers of USD
// per hour, exact to nine decimals. capacity and overhead of an offering replace amounts of the
// type, one by one. Versions of this package may add fields; a program that does not know one must
// refuse the file, because it might change the meaning.
//
// # CSV format
//
// [ReadCSV] and [Catalog.WriteCSV] use one row for each offering, under headings in
// any order:
//
//	name                    the type; required
//	arch, os                kubernetes.io/arch and kubernetes.io/os
//	cpu, memory, pods       capacity
//	ephemeralStorage, gpu   capacity: ephemeral-storage and nvidia.com/gpu
//	zone, capacityType      the offering; capacityType is reserved, spot or on-demand
//	price                   USD per hour
//	interruptionRate        share of spot nodes lost in a month, 0 to 1
//	reservationID           the reservation, inventory or commitment,
//	reservationCount        the amount of it that is left,
//	reservationUse          and the amount that a node takes, 1 if empty
//	commitment              true if reservationID is a commitment to pay
//	rankingSurcharge        USD per hour that are added where offerings are compared
//	unavailable             true if it cannot be launched
//	estimated               names of estimated fields, between blanks
//	label:KEY               a label of the type
//	capacity:RESOURCE       capacity of another resource
//	reserved:RESOURCE       kube-reserved
//	systemReserved:RESOURCE, evictionThreshold:RESOURCE
//	offering.label:KEY, offering.capacity:RESOURCE, offering.overhead:RESOURCE
//
// An empty cell is an absent value; the cell "" (two quotation marks) is the empty value of a
// label. A type without offerings has one row with the offering's columns empty. Lines that begin
// with # are comments. Provenance is not part of the format.
//
// # Filter expressions
//
// [ParseFilter] reads terms between commas, all of which must hold:
//
//	filter = term { "," term } .
//	term   = key | "!" key | key op value | key ( "in" | "notin" ) "(" value { [ "," ] value } ")" .
//	op     = "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" .
//
// A bare key requires a value, and !key its absence. Keys are:
//
//	name                              the type's name
//	cpu, memory, pods,                capacity, as Kubernetes quantities; memory and
//	ephemeral-storage                 storage need a unit
//	gpu                               all resources that end in /gpu, together
//	capacity:RESOURCE                 any other resource
//	price                             USD per hour
//	available                         can be launched now
//	arch, zone, capacity-type, …      the well-known label that ends so
//	a key with a slash, or label:KEY  that label
//
// Of a well-known label the "instance-" or "sku-" at the beginning may be left out: category,
// family, generation, gpu-name. If providers have different labels of one meaning, the type's own
// label counts; a key with several meanings is an error. Values are compared as text, in which *
// stands for any text and ? for any byte; <, <=, > and >= compare whole numbers, and an absent
// label satisfies !=, notin and !key only.
package instancetypes
