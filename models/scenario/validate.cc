#include "models/scenario/validate.h"

#include "models/scenario/key_check.h"

namespace zerosim {

void CheckBetweenSections(const Node& root, Scenario* scenario, Problems* problems) {
  CheckCluster(root, scenario, problems);
  CheckSizes(root, scenario, problems);
  CheckGroups(root, scenario, problems);
}

}  // namespace zerosim
