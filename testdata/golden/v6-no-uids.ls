METADATA     %  ENTRIES  TYPE            NAME                                               SELECTOR
   350 B  10.9           x2              373208097129f8eaabe4cfb37334a1c9 Enrich enrich-b   373208097129f8eaabe4cfb37334a1c9
   252 B   7.8        ?  keyed             all names together                               373208097129f8eaabe4cfb37334a1c9/keyed
   126 B   3.9        ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/*/1
   126 B   3.9        ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/*/0
       ?              ?  keyed             recent-products                                  373208097129f8eaabe4cfb37334a1c9/keyed/recent-products
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/recent-products/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/recent-products/1
       ?              ?  keyed             session-ttl                                      373208097129f8eaabe4cfb37334a1c9/keyed/session-ttl
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/session-ttl/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/session-ttl/1
       ?              ?  keyed             address                                          373208097129f8eaabe4cfb37334a1c9/keyed/address
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/address/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/address/1
       ?              ?  keyed             opaque                                           373208097129f8eaabe4cfb37334a1c9/keyed/opaque
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/opaque/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/opaque/1
       ?              ?  keyed             level                                            373208097129f8eaabe4cfb37334a1c9/keyed/level
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/level/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/level/1
       ?              ?  keyed             last-amount                                      373208097129f8eaabe4cfb37334a1c9/keyed/last-amount
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/last-amount/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/last-amount/1
       ?              ?  keyed             sum                                              373208097129f8eaabe4cfb37334a1c9/keyed/sum
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/sum/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/sum/1
       ?              ?  keyed             history                                          373208097129f8eaabe4cfb37334a1c9/keyed/history
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/history/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/history/1
       ?              ?  keyed             aggregate                                        373208097129f8eaabe4cfb37334a1c9/keyed/aggregate
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/aggregate/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/aggregate/1
       ?              ?  keyed             tuple                                            373208097129f8eaabe4cfb37334a1c9/keyed/tuple
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/tuple/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/tuple/1
       ?              ?  keyed             blob                                             373208097129f8eaabe4cfb37334a1c9/keyed/blob
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/blob/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/blob/1
       ?              ?  keyed             per-product                                      373208097129f8eaabe4cfb37334a1c9/keyed/per-product
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/per-product/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/per-product/1
       ?              ?  keyed             order                                            373208097129f8eaabe4cfb37334a1c9/keyed/order
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/order/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/order/1
       ?              ?  keyed             click-avro                                       373208097129f8eaabe4cfb37334a1c9/keyed/click-avro
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/click-avro/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/click-avro/1
       ?              ?  keyed             _timer_state/processing_user-timers              373208097129f8eaabe4cfb37334a1c9/keyed/_timer_state%2Fprocessing_user-timers
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/_timer_state%2Fprocessing_user-timers/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/_timer_state%2Fprocessing_user-timers/1
       ?              ?  keyed             _timer_state/event_user-timers                   373208097129f8eaabe4cfb37334a1c9/keyed/_timer_state%2Fevent_user-timers
       ?              ?  keyed               subtask 0                                      373208097129f8eaabe4cfb37334a1c9/keyed/_timer_state%2Fevent_user-timers/0
       ?              ?  keyed               subtask 1                                      373208097129f8eaabe4cfb37334a1c9/keyed/_timer_state%2Fevent_user-timers/1
   350 B  10.9           x2              a5740df98ad27860baff99fc973cc515 Enrich enrich-a   a5740df98ad27860baff99fc973cc515
   252 B   7.8        ?  keyed             all names together                               a5740df98ad27860baff99fc973cc515/keyed
   126 B   3.9        ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/*/1
   126 B   3.9        ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/*/0
       ?              ?  keyed             recent-products                                  a5740df98ad27860baff99fc973cc515/keyed/recent-products
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/recent-products/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/recent-products/1
       ?              ?  keyed             session-ttl                                      a5740df98ad27860baff99fc973cc515/keyed/session-ttl
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/session-ttl/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/session-ttl/1
       ?              ?  keyed             address                                          a5740df98ad27860baff99fc973cc515/keyed/address
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/address/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/address/1
       ?              ?  keyed             opaque                                           a5740df98ad27860baff99fc973cc515/keyed/opaque
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/opaque/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/opaque/1
       ?              ?  keyed             level                                            a5740df98ad27860baff99fc973cc515/keyed/level
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/level/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/level/1
       ?              ?  keyed             last-amount                                      a5740df98ad27860baff99fc973cc515/keyed/last-amount
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/last-amount/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/last-amount/1
       ?              ?  keyed             sum                                              a5740df98ad27860baff99fc973cc515/keyed/sum
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/sum/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/sum/1
       ?              ?  keyed             history                                          a5740df98ad27860baff99fc973cc515/keyed/history
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/history/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/history/1
       ?              ?  keyed             aggregate                                        a5740df98ad27860baff99fc973cc515/keyed/aggregate
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/aggregate/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/aggregate/1
       ?              ?  keyed             tuple                                            a5740df98ad27860baff99fc973cc515/keyed/tuple
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/tuple/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/tuple/1
       ?              ?  keyed             blob                                             a5740df98ad27860baff99fc973cc515/keyed/blob
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/blob/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/blob/1
       ?              ?  keyed             per-product                                      a5740df98ad27860baff99fc973cc515/keyed/per-product
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/per-product/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/per-product/1
       ?              ?  keyed             order                                            a5740df98ad27860baff99fc973cc515/keyed/order
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/order/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/order/1
       ?              ?  keyed             click-avro                                       a5740df98ad27860baff99fc973cc515/keyed/click-avro
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/click-avro/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/click-avro/1
       ?              ?  keyed             _timer_state/processing_user-timers              a5740df98ad27860baff99fc973cc515/keyed/_timer_state%2Fprocessing_user-timers
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/_timer_state%2Fprocessing_user-timers/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/_timer_state%2Fprocessing_user-timers/1
       ?              ?  keyed             _timer_state/event_user-timers                   a5740df98ad27860baff99fc973cc515/keyed/_timer_state%2Fevent_user-timers
       ?              ?  keyed               subtask 0                                      a5740df98ad27860baff99fc973cc515/keyed/_timer_state%2Fevent_user-timers/0
       ?              ?  keyed               subtask 1                                      a5740df98ad27860baff99fc973cc515/keyed/_timer_state%2Fevent_user-timers/1
   321 B  10.0           x2              ca88eee0095684d687a1b6495617f957 Source: numbers   ca88eee0095684d687a1b6495617f957
    64 B   2.0        2  operator split    SourceReaderState                                ca88eee0095684d687a1b6495617f957/operator/SourceReaderState
    32 B   1.0        1  operator split      subtask 0                                      ca88eee0095684d687a1b6495617f957/operator/SourceReaderState/0
    32 B   1.0        1  operator split      subtask 1                                      ca88eee0095684d687a1b6495617f957/operator/SourceReaderState/1
    55 B   1.7        1  coordinator       coordinator                                      ca88eee0095684d687a1b6495617f957/coordinator
   263 B   8.2           x2              d26ff0dc063f8d3cd6c4a2bd95937d1e Step 1            d26ff0dc063f8d3cd6c4a2bd95937d1e
    70 B   2.2        4  operator split    step-1-state                                     d26ff0dc063f8d3cd6c4a2bd95937d1e/operator/step-1-state
    35 B   1.1        2  operator split      subtask 0                                      d26ff0dc063f8d3cd6c4a2bd95937d1e/operator/step-1-state/0
    35 B   1.1        2  operator split      subtask 1                                      d26ff0dc063f8d3cd6c4a2bd95937d1e/operator/step-1-state/1
   263 B   8.2           x2              0ee478cde3ce9a22f53f4e886b681c12 Step 2            0ee478cde3ce9a22f53f4e886b681c12
    70 B   2.2        4  operator split    step-2-state                                     0ee478cde3ce9a22f53f4e886b681c12/operator/step-2-state
    35 B   1.1        2  operator split      subtask 0                                      0ee478cde3ce9a22f53f4e886b681c12/operator/step-2-state/0
    35 B   1.1        2  operator split      subtask 1                                      0ee478cde3ce9a22f53f4e886b681c12/operator/step-2-state/1
   263 B   8.2           x2              d429789c656c8e09fb2a74c27f017680 Step 4            d429789c656c8e09fb2a74c27f017680
    70 B   2.2        4  operator split    step-4-state                                     d429789c656c8e09fb2a74c27f017680/operator/step-4-state
    35 B   1.1        2  operator split      subtask 0                                      d429789c656c8e09fb2a74c27f017680/operator/step-4-state/0
    35 B   1.1        2  operator split      subtask 1                                      d429789c656c8e09fb2a74c27f017680/operator/step-4-state/1
   263 B   8.2           x2              72176583f5fc53ca6ef91ecfe4996911 Step 5            72176583f5fc53ca6ef91ecfe4996911
    70 B   2.2        4  operator split    step-5-state                                     72176583f5fc53ca6ef91ecfe4996911/operator/step-5-state
    35 B   1.1        2  operator split      subtask 0                                      72176583f5fc53ca6ef91ecfe4996911/operator/step-5-state/0
    35 B   1.1        2  operator split      subtask 1                                      72176583f5fc53ca6ef91ecfe4996911/operator/step-5-state/1
   263 B   8.2           x2              2d69c4d89f8997e6464b035b6b89f469 Step 8            2d69c4d89f8997e6464b035b6b89f469
    70 B   2.2        4  operator split    step-8-state                                     2d69c4d89f8997e6464b035b6b89f469/operator/step-8-state
    35 B   1.1        2  operator split      subtask 0                                      2d69c4d89f8997e6464b035b6b89f469/operator/step-8-state/0
    35 B   1.1        2  operator split      subtask 1                                      2d69c4d89f8997e6464b035b6b89f469/operator/step-8-state/1
   263 B   8.2           x2              8c0ab86d58d10fee5b7f0aff93825415 Step 6            8c0ab86d58d10fee5b7f0aff93825415
    70 B   2.2        4  operator union    step-6-state                                     8c0ab86d58d10fee5b7f0aff93825415/operator/step-6-state
    35 B   1.1        2  operator union      subtask 0                                      8c0ab86d58d10fee5b7f0aff93825415/operator/step-6-state/0
    35 B   1.1        2  operator union      subtask 1                                      8c0ab86d58d10fee5b7f0aff93825415/operator/step-6-state/1
   257 B   8.0           x2              1a6f7450b9456d35db531c74b281a8c8 Step 7            1a6f7450b9456d35db531c74b281a8c8
    70 B   2.2        4  operator split    step-7-state                                     1a6f7450b9456d35db531c74b281a8c8/operator/step-7-state
    35 B   1.1        2  operator split      subtask 0                                      1a6f7450b9456d35db531c74b281a8c8/operator/step-7-state/0
    35 B   1.1        2  operator split      subtask 1                                      1a6f7450b9456d35db531c74b281a8c8/operator/step-7-state/1
   257 B   8.0           x2              c53d14dc36959f75f3a25040a6580f0f Step 3            c53d14dc36959f75f3a25040a6580f0f
    70 B   2.2        4  operator union    step-3-state                                     c53d14dc36959f75f3a25040a6580f0f/operator/step-3-state
    35 B   1.1        2  operator union      subtask 0                                      c53d14dc36959f75f3a25040a6580f0f/operator/step-3-state/0
    35 B   1.1        2  operator union      subtask 1                                      c53d14dc36959f75f3a25040a6580f0f/operator/step-3-state/1
   109 B   3.4           x2              5f811b48d11d1b8e2cbc8f6c8a0a7a76 Throttle numbers  5f811b48d11d1b8e2cbc8f6c8a0a7a76
