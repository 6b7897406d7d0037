package workload

import (
	"context"
	"fmt"

	"github.com/flowgen-dev/flowgen/bench/tool"
)

// chainByHand is what a careful person writes for the chain: typed calls, a check of the context before each, errors that
// name the node. Written by a script, like the workflow.
func chainByHand(ctx context.Context, in tool.Message) (tool.Message, error) {
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n00: %w", err)
	}
	n00, err := tool.Step(ctx, tool.Message{Count: in.Count, Text: in.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n00: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n01: %w", err)
	}
	n01, err := tool.Step(ctx, tool.Message{Count: n00.Count, Text: n00.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n01: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n02: %w", err)
	}
	n02, err := tool.Step(ctx, tool.Message{Count: n01.Count, Text: n01.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n02: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n03: %w", err)
	}
	n03, err := tool.Step(ctx, tool.Message{Count: n02.Count, Text: n02.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n03: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n04: %w", err)
	}
	n04, err := tool.Step(ctx, tool.Message{Count: n03.Count, Text: n03.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n04: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n05: %w", err)
	}
	n05, err := tool.Step(ctx, tool.Message{Count: n04.Count, Text: n04.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n05: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n06: %w", err)
	}
	n06, err := tool.Step(ctx, tool.Message{Count: n05.Count, Text: n05.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n06: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n07: %w", err)
	}
	n07, err := tool.Step(ctx, tool.Message{Count: n06.Count, Text: n06.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n07: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n08: %w", err)
	}
	n08, err := tool.Step(ctx, tool.Message{Count: n07.Count, Text: n07.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n08: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n09: %w", err)
	}
	n09, err := tool.Step(ctx, tool.Message{Count: n08.Count, Text: n08.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n09: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n10: %w", err)
	}
	n10, err := tool.Step(ctx, tool.Message{Count: n09.Count, Text: n09.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n10: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n11: %w", err)
	}
	n11, err := tool.Step(ctx, tool.Message{Count: n10.Count, Text: n10.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n11: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n12: %w", err)
	}
	n12, err := tool.Step(ctx, tool.Message{Count: n11.Count, Text: n11.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n12: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n13: %w", err)
	}
	n13, err := tool.Step(ctx, tool.Message{Count: n12.Count, Text: n12.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n13: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n14: %w", err)
	}
	n14, err := tool.Step(ctx, tool.Message{Count: n13.Count, Text: n13.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n14: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n15: %w", err)
	}
	n15, err := tool.Step(ctx, tool.Message{Count: n14.Count, Text: n14.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n15: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n16: %w", err)
	}
	n16, err := tool.Step(ctx, tool.Message{Count: n15.Count, Text: n15.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n16: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n17: %w", err)
	}
	n17, err := tool.Step(ctx, tool.Message{Count: n16.Count, Text: n16.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n17: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n18: %w", err)
	}
	n18, err := tool.Step(ctx, tool.Message{Count: n17.Count, Text: n17.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n18: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n19: %w", err)
	}
	n19, err := tool.Step(ctx, tool.Message{Count: n18.Count, Text: n18.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n19: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n20: %w", err)
	}
	n20, err := tool.Step(ctx, tool.Message{Count: n19.Count, Text: n19.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n20: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n21: %w", err)
	}
	n21, err := tool.Step(ctx, tool.Message{Count: n20.Count, Text: n20.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n21: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n22: %w", err)
	}
	n22, err := tool.Step(ctx, tool.Message{Count: n21.Count, Text: n21.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n22: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n23: %w", err)
	}
	n23, err := tool.Step(ctx, tool.Message{Count: n22.Count, Text: n22.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n23: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n24: %w", err)
	}
	n24, err := tool.Step(ctx, tool.Message{Count: n23.Count, Text: n23.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n24: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n25: %w", err)
	}
	n25, err := tool.Step(ctx, tool.Message{Count: n24.Count, Text: n24.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n25: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n26: %w", err)
	}
	n26, err := tool.Step(ctx, tool.Message{Count: n25.Count, Text: n25.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n26: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n27: %w", err)
	}
	n27, err := tool.Step(ctx, tool.Message{Count: n26.Count, Text: n26.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n27: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n28: %w", err)
	}
	n28, err := tool.Step(ctx, tool.Message{Count: n27.Count, Text: n27.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n28: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n29: %w", err)
	}
	n29, err := tool.Step(ctx, tool.Message{Count: n28.Count, Text: n28.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n29: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n30: %w", err)
	}
	n30, err := tool.Step(ctx, tool.Message{Count: n29.Count, Text: n29.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n30: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n31: %w", err)
	}
	n31, err := tool.Step(ctx, tool.Message{Count: n30.Count, Text: n30.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n31: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n32: %w", err)
	}
	n32, err := tool.Step(ctx, tool.Message{Count: n31.Count, Text: n31.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n32: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n33: %w", err)
	}
	n33, err := tool.Step(ctx, tool.Message{Count: n32.Count, Text: n32.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n33: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n34: %w", err)
	}
	n34, err := tool.Step(ctx, tool.Message{Count: n33.Count, Text: n33.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n34: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n35: %w", err)
	}
	n35, err := tool.Step(ctx, tool.Message{Count: n34.Count, Text: n34.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n35: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n36: %w", err)
	}
	n36, err := tool.Step(ctx, tool.Message{Count: n35.Count, Text: n35.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n36: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n37: %w", err)
	}
	n37, err := tool.Step(ctx, tool.Message{Count: n36.Count, Text: n36.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n37: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n38: %w", err)
	}
	n38, err := tool.Step(ctx, tool.Message{Count: n37.Count, Text: n37.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n38: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n39: %w", err)
	}
	n39, err := tool.Step(ctx, tool.Message{Count: n38.Count, Text: n38.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n39: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n40: %w", err)
	}
	n40, err := tool.Step(ctx, tool.Message{Count: n39.Count, Text: n39.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n40: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n41: %w", err)
	}
	n41, err := tool.Step(ctx, tool.Message{Count: n40.Count, Text: n40.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n41: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n42: %w", err)
	}
	n42, err := tool.Step(ctx, tool.Message{Count: n41.Count, Text: n41.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n42: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n43: %w", err)
	}
	n43, err := tool.Step(ctx, tool.Message{Count: n42.Count, Text: n42.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n43: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n44: %w", err)
	}
	n44, err := tool.Step(ctx, tool.Message{Count: n43.Count, Text: n43.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n44: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n45: %w", err)
	}
	n45, err := tool.Step(ctx, tool.Message{Count: n44.Count, Text: n44.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n45: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n46: %w", err)
	}
	n46, err := tool.Step(ctx, tool.Message{Count: n45.Count, Text: n45.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n46: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n47: %w", err)
	}
	n47, err := tool.Step(ctx, tool.Message{Count: n46.Count, Text: n46.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n47: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n48: %w", err)
	}
	n48, err := tool.Step(ctx, tool.Message{Count: n47.Count, Text: n47.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n48: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n49: %w", err)
	}
	n49, err := tool.Step(ctx, tool.Message{Count: n48.Count, Text: n48.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n49: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n50: %w", err)
	}
	n50, err := tool.Step(ctx, tool.Message{Count: n49.Count, Text: n49.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n50: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n51: %w", err)
	}
	n51, err := tool.Step(ctx, tool.Message{Count: n50.Count, Text: n50.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n51: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n52: %w", err)
	}
	n52, err := tool.Step(ctx, tool.Message{Count: n51.Count, Text: n51.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n52: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n53: %w", err)
	}
	n53, err := tool.Step(ctx, tool.Message{Count: n52.Count, Text: n52.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n53: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n54: %w", err)
	}
	n54, err := tool.Step(ctx, tool.Message{Count: n53.Count, Text: n53.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n54: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n55: %w", err)
	}
	n55, err := tool.Step(ctx, tool.Message{Count: n54.Count, Text: n54.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n55: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n56: %w", err)
	}
	n56, err := tool.Step(ctx, tool.Message{Count: n55.Count, Text: n55.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n56: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n57: %w", err)
	}
	n57, err := tool.Step(ctx, tool.Message{Count: n56.Count, Text: n56.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n57: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n58: %w", err)
	}
	n58, err := tool.Step(ctx, tool.Message{Count: n57.Count, Text: n57.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n58: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n59: %w", err)
	}
	n59, err := tool.Step(ctx, tool.Message{Count: n58.Count, Text: n58.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n59: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n60: %w", err)
	}
	n60, err := tool.Step(ctx, tool.Message{Count: n59.Count, Text: n59.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n60: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n61: %w", err)
	}
	n61, err := tool.Step(ctx, tool.Message{Count: n60.Count, Text: n60.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n61: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n62: %w", err)
	}
	n62, err := tool.Step(ctx, tool.Message{Count: n61.Count, Text: n61.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n62: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n63: %w", err)
	}
	n63, err := tool.Step(ctx, tool.Message{Count: n62.Count, Text: n62.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n63: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n64: %w", err)
	}
	n64, err := tool.Step(ctx, tool.Message{Count: n63.Count, Text: n63.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n64: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n65: %w", err)
	}
	n65, err := tool.Step(ctx, tool.Message{Count: n64.Count, Text: n64.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n65: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n66: %w", err)
	}
	n66, err := tool.Step(ctx, tool.Message{Count: n65.Count, Text: n65.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n66: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n67: %w", err)
	}
	n67, err := tool.Step(ctx, tool.Message{Count: n66.Count, Text: n66.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n67: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n68: %w", err)
	}
	n68, err := tool.Step(ctx, tool.Message{Count: n67.Count, Text: n67.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n68: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n69: %w", err)
	}
	n69, err := tool.Step(ctx, tool.Message{Count: n68.Count, Text: n68.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n69: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n70: %w", err)
	}
	n70, err := tool.Step(ctx, tool.Message{Count: n69.Count, Text: n69.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n70: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n71: %w", err)
	}
	n71, err := tool.Step(ctx, tool.Message{Count: n70.Count, Text: n70.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n71: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n72: %w", err)
	}
	n72, err := tool.Step(ctx, tool.Message{Count: n71.Count, Text: n71.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n72: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n73: %w", err)
	}
	n73, err := tool.Step(ctx, tool.Message{Count: n72.Count, Text: n72.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n73: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n74: %w", err)
	}
	n74, err := tool.Step(ctx, tool.Message{Count: n73.Count, Text: n73.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n74: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n75: %w", err)
	}
	n75, err := tool.Step(ctx, tool.Message{Count: n74.Count, Text: n74.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n75: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n76: %w", err)
	}
	n76, err := tool.Step(ctx, tool.Message{Count: n75.Count, Text: n75.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n76: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n77: %w", err)
	}
	n77, err := tool.Step(ctx, tool.Message{Count: n76.Count, Text: n76.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n77: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n78: %w", err)
	}
	n78, err := tool.Step(ctx, tool.Message{Count: n77.Count, Text: n77.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n78: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n79: %w", err)
	}
	n79, err := tool.Step(ctx, tool.Message{Count: n78.Count, Text: n78.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n79: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n80: %w", err)
	}
	n80, err := tool.Step(ctx, tool.Message{Count: n79.Count, Text: n79.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n80: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n81: %w", err)
	}
	n81, err := tool.Step(ctx, tool.Message{Count: n80.Count, Text: n80.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n81: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n82: %w", err)
	}
	n82, err := tool.Step(ctx, tool.Message{Count: n81.Count, Text: n81.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n82: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n83: %w", err)
	}
	n83, err := tool.Step(ctx, tool.Message{Count: n82.Count, Text: n82.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n83: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n84: %w", err)
	}
	n84, err := tool.Step(ctx, tool.Message{Count: n83.Count, Text: n83.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n84: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n85: %w", err)
	}
	n85, err := tool.Step(ctx, tool.Message{Count: n84.Count, Text: n84.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n85: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n86: %w", err)
	}
	n86, err := tool.Step(ctx, tool.Message{Count: n85.Count, Text: n85.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n86: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n87: %w", err)
	}
	n87, err := tool.Step(ctx, tool.Message{Count: n86.Count, Text: n86.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n87: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n88: %w", err)
	}
	n88, err := tool.Step(ctx, tool.Message{Count: n87.Count, Text: n87.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n88: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n89: %w", err)
	}
	n89, err := tool.Step(ctx, tool.Message{Count: n88.Count, Text: n88.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n89: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n90: %w", err)
	}
	n90, err := tool.Step(ctx, tool.Message{Count: n89.Count, Text: n89.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n90: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n91: %w", err)
	}
	n91, err := tool.Step(ctx, tool.Message{Count: n90.Count, Text: n90.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n91: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n92: %w", err)
	}
	n92, err := tool.Step(ctx, tool.Message{Count: n91.Count, Text: n91.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n92: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n93: %w", err)
	}
	n93, err := tool.Step(ctx, tool.Message{Count: n92.Count, Text: n92.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n93: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n94: %w", err)
	}
	n94, err := tool.Step(ctx, tool.Message{Count: n93.Count, Text: n93.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n94: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n95: %w", err)
	}
	n95, err := tool.Step(ctx, tool.Message{Count: n94.Count, Text: n94.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n95: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n96: %w", err)
	}
	n96, err := tool.Step(ctx, tool.Message{Count: n95.Count, Text: n95.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n96: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n97: %w", err)
	}
	n97, err := tool.Step(ctx, tool.Message{Count: n96.Count, Text: n96.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n97: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n98: %w", err)
	}
	n98, err := tool.Step(ctx, tool.Message{Count: n97.Count, Text: n97.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n98: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Message{}, fmt.Errorf("node n99: %w", err)
	}
	n99, err := tool.Step(ctx, tool.Message{Count: n98.Count, Text: n98.Text})
	if err != nil {
		return tool.Message{}, fmt.Errorf("node n99: %w", err)
	}
	return n99, nil
}
