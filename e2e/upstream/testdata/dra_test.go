// SPDX-License-Identifier: Apache-2.0
// The main of the program that ../build makes.

package suite

import (
	"testing"

	"k8s.io/kubernetes/test/integration/framework"

	"drawbridge.test/suite/dra"
)

func TestMain(m *testing.M) { framework.EtcdMain(m.Run) }

// All alpha and beta features of DRA on, as Kubernetes itself runs these tests.
func TestDRA(t *testing.T) { dra.Run(t, "^all$") }
