#include "tests/collectives/play.h"

#include <stdexcept>

#include <fmt/format.h>

#include "models/collectives/positions.h"

namespace zerosim {
namespace {

struct Message {
  int from = 0;
  int to = 0;
  bool reduce = false;
  Parcel parcel;
};

void Require(bool condition, const std::string& what) {
  if (!condition) throw std::logic_error(what);
}

std::vector<int> BlocksIn(const Stage& stage, const GroupShape& shape, int member,
                          const Send& send) {
  std::vector<int> blocks;
  for (int i = 0; i < send.count; ++i) {
    const BlockRange range = BlocksOf(stage, shape, member, (send.first + i) % stage.among.size);
    for (int k = 0; k < range.count; ++k) blocks.push_back(range.first + k * range.step);
  }
  return blocks;
}

Parcel Take(const Parcel& held, const std::vector<int>& blocks, int member) {
  Parcel parcel;
  for (const int block : blocks) {
    const auto found = held.find(block);
    Require(found != held.end(), fmt::format("{} sends block {} early", member, block));
    parcel[block] = found->second;
  }
  return parcel;
}

void Arrive(const Message& message, Holdings* held) {
  Parcel& mine = held->at(message.to);
  for (const auto& [block, inputs] : message.parcel) {
    if (message.reduce) {
      Require((mine[block] & inputs) == 0, fmt::format("an input to {} summed twice", block));
      mine[block] |= inputs;
    } else {
      Require(mine.count(block) == 0, fmt::format("block {} stored twice", block));
      mine[block] = inputs;
    }
  }
}

// In a reduction each member keeps its own position alone.
void KeepOwn(const Stage& stage, const GroupShape& shape, Holdings* held) {
  for (int m = 0; m < shape.size(); ++m) {
    held->at(m) =
        Take(held->at(m), BlocksIn(stage, shape, m, {m, PositionOf(stage, m), 1, false}), m);
  }
}

void PlaySwitch(const Stage& stage, const GroupShape& shape, Holdings* held) {
  Holdings after = *held;
  for (int m = 0; m < shape.size(); ++m) {
    after[m].clear();
    for (int p = 0; p < stage.among.size; ++p) {
      const int peer = MemberAt(stage, m, p);
      for (const Send& send : SendsOf(stage, shape, 0, peer, 0)) {
        Require(send.to == kSwitchMember, "not to the switch");
        const Parcel parcel = Take(held->at(peer), BlocksIn(stage, shape, peer, send), peer);
        for (const auto& [block, inputs] : parcel) {
          Require((after[m][block] & inputs) == 0, "an input in the switch twice");
          after[m][block] |= inputs;
        }
      }
    }
  }
  *held = std::move(after);
  if (stage.motion == Motion::kReduce) KeepOwn(stage, shape, held);
}

// Every chunk is a reduction or a broadcast of its own, of all that a member holds.
void PlayTree(const Stage& stage, const GroupShape& shape, int channel, Holdings* held) {
  const int chunks = stage.chunks * (stage.tree == TreeKind::kDoubleBinary ? 2 : 1);
  std::vector<Holdings> of(chunks, *held);
  for (int round = 0; round < RoundsOf(stage, shape); ++round) {
    std::vector<std::pair<int, Message>> messages;
    for (int m = 0; m < shape.size(); ++m) {
      for (const Send& send : SendsOf(stage, shape, channel, m, round)) {
        messages.push_back({send.first, {m, send.to, send.reduce, of[send.first][m]}});
      }
    }
    for (auto& [chunk, message] : messages) {
      if (!message.reduce) of[chunk][message.to].clear();
      Arrive(message, &of[chunk]);
    }
  }
  *held = of.front();
  for (const Holdings& chunk : of) Require(chunk == *held, "chunks end differently");
}

}  // namespace

void Play(const Schedule& schedule, int channel, Holdings* held) {
  const GroupShape& shape = schedule.shape;
  for (const Stage& stage : schedule.stages) {
    const int way = channel % stage.channels;
    if (stage.pattern == Pattern::kTree) {
      PlayTree(stage, shape, way, held);
      continue;
    }
    if (stage.pattern == Pattern::kSwitch) {
      PlaySwitch(stage, shape, held);
      continue;
    }
    for (int round = 0; round < RoundsOf(stage, shape); ++round) {
      std::vector<Message> messages;
      for (int m = 0; m < shape.size(); ++m) {
        for (const Send& send : SendsOf(stage, shape, way, m, round)) {
          messages.push_back(
              {m, send.to, send.reduce, Take(held->at(m), BlocksIn(stage, shape, m, send), m)});
        }
      }
      for (const Message& message : messages) Arrive(message, held);
    }
    if (stage.motion == Motion::kReduce) KeepOwn(stage, shape, held);
  }
}

void PlayPersonal(const Schedule& schedule, Mailbag* held) {
  const GroupShape& shape = schedule.shape;
  for (const Stage& stage : schedule.stages) {
    Mailbag arrived(shape.size());
    for (int round = 0; round < RoundsOf(stage, shape); ++round) {
      for (int m = 0; m < shape.size(); ++m) {
        for (const Send& send : SendsOf(stage, shape, 0, m, round)) {
          std::erase_if(held->at(m), [&](const Item& item) {
            const bool goes = PositionOf(stage, item.second) == send.first;
            if (goes) arrived[send.to].insert(item);
            return goes;
          });
        }
      }
    }
    for (int m = 0; m < shape.size(); ++m) held->at(m).merge(arrived[m]);
  }
}

}  // namespace zerosim
