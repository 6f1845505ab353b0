// Package clouds is the register of embedded catalogs, by names such as ec2/eu-west-1.
package clouds
