// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"errors"
	"sync"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/dynamic-resource-allocation/resourceslice"
)

// Driver publishes the devices of one node by the drivers' own helper library.
type Driver struct {
	Name    string
	kubelet *Kubelet
	client  kubernetes.Interface

	controller *resourceslice.Controller
	cancel     context.CancelFunc
	mutex      sync.Mutex
	errors     []error
}

// NewDriver makes a driver that is not started yet.
func NewDriver(client kubernetes.Interface, kubelet *Kubelet, name string) *Driver {
	return &Driver{Name: name, kubelet: kubelet, client: client}
}

// PoolName is the name that the driver gives its pool.
func (d *Driver) PoolName() string { return d.kubelet.Node + "-" + d.Name }

// Start publishes a pool of one slice for each list of devices; it is also the restart after Crash, with the same
// devices or, as an upgrade, with others. A generation of 0 leaves the choice to the library.
func (d *Driver) Start(ctx context.Context, generation int64, slices ...[]resourceapi.Device) error {
	if d.controller != nil {
		return errors.New("driver " + d.Name + " runs already")
	}
	ctx, d.cancel = context.WithCancel(ctx)
	delay := time.Second // the library's 30 s would only slow down how it repairs
	controller, err := resourceslice.StartController(ctx, resourceslice.Options{
		DriverName:   d.Name,
		KubeClient:   d.client,
		Owner:        &resourceslice.Owner{APIVersion: "v1", Kind: "Node", Name: d.kubelet.Node, UID: d.kubelet.UID},
		Resources:    d.resources(generation, slices),
		SyncDelay:    &delay,
		ErrorHandler: d.note,
	})
	if err != nil {
		d.cancel()
		return err
	}
	d.controller = controller
	return nil
}

// Publish changes what a running driver offers: more slices split the pool, fewer shrink it, a higher generation bumps it.
func (d *Driver) Publish(generation int64, slices ...[]resourceapi.Device) {
	d.controller.Update(d.resources(generation, slices))
}

// Crash ends the driver; its slices stay.
func (d *Driver) Crash() {
	if d.controller != nil {
		d.cancel()
		d.controller.Stop()
		d.controller = nil
	}
}

// Errors returns what the library could not write since the last call, such as slices that were denied.
func (d *Driver) Errors() []error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	errs := d.errors
	d.errors = nil
	return errs
}

func (d *Driver) note(_ context.Context, err error, _ string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.errors = append(d.errors, err)
}

func (d *Driver) resources(generation int64, slices [][]resourceapi.Device) *resourceslice.DriverResources {
	pool := resourceslice.Pool{Generation: generation}
	for _, devices := range slices {
		pool.Slices = append(pool.Slices, resourceslice.Slice{Devices: devices})
	}
	return &resourceslice.DriverResources{Pools: map[string]resourceslice.Pool{d.PoolName(): pool}}
}
