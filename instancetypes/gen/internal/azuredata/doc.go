// Package azuredata makes the tables of the embedded Azure catalogs from the data of package
// source. It keeps the sizes that Karpenter's Azure provider would offer and
// whose shape is certain: at least two vCPUs and 3.5 GiB of memory, no constrained
// cores, no confidential machines, whole GPUs of known models.
package azuredata
